"""Gymnasium's classic control tasks as TensorFlow programs, by Gymnasium's ids."""

from agents.environments.classic_control.acrobot import Acrobot
from agents.environments.classic_control.cart_pole import CartPole
from agents.environments.classic_control.mountain_car import (
    MountainCar,
    MountainCarContinuous,
)
from agents.environments.classic_control.pendulum import Pendulum

TASKS = {
    "Acrobot-v1": Acrobot,
    "CartPole-v1": CartPole,
    "MountainCar-v0": MountainCar,
    "MountainCarContinuous-v0": MountainCarContinuous,
    "Pendulum-v1": Pendulum,
}
