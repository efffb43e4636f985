"""The example distribution agents-trainer-plugin."""

import setuptools

setuptools.setup(
    name="agents-trainer-plugin",
    version="0.1.0",
    description="A2C and DQN for batch-ppo.",
    packages=setuptools.find_packages(include=["agents_trainer_plugin*"]),
    package_data={"": ["*.yaml"]},
    python_requires=">=3.11",
    install_requires=["batch-ppo"],
    entry_points={
        "agents.trainer_type": [
            "a2c = agents_trainer_plugin.a2c:get_type_and_setting",
            "dqn = agents_trainer_plugin.dqn:get_type_and_setting",
        ]
    },
)
