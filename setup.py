"""The distribution batch-ppo, import package agents."""

import pathlib

import setuptools

setuptools.setup(
    name="batch-ppo",
    version="0.1.0",
    description="Batched PPO in one TensorFlow graph, with environments in processes.",
    long_description=pathlib.Path("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    packages=setuptools.find_packages(include=["agents", "agents.*"]),
    python_requires=">=3.11,<3.14",
    install_requires=[
        "cloudpickle>=3",
        "gymnasium[classic-control]>=1.3,<2",
        "keras>=3.12",
        "lazy_loader>=0.4",
        "matplotlib>=3.9",
        "moviepy>=2.2",
        "numpy>=2",
        "rich>=13",
        "ruamel.yaml>=0.18",
        "tensorboard>=2.20",
        "tensorflow>=2.21",
    ],
    entry_points={
        "agents.trainer_type": ["ppo = agents.algorithms.ppo.trainer:trainers"],
        "agents.stats_writer": ["agents = agents.tools.writers:default_writers"],
    },
    extras_require={
        "mujoco": ["gymnasium[mujoco]"],
        "bullet": ["pybullet>=3.2.7", "pybullet-envs-gymnasium>=0.6"],
        "envpool": ["envpool>=1.2.5"],
        "minari": ["minari[hdf5]>=0.5.3"],
        "jax": ["brax>=0.14.2", "gymnax>=1.0.1", "jax>=0.10"],
        "test": ["pylint>=4", "pytest>=8", "pytest-timeout>=2.3", "ruff>=0.9"],
        "bench": ["sbx-rl>=0.28", "stable-baselines3>=2.9", "torch>=2.13"],
    },
)
