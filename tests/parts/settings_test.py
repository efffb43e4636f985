"""Settings that check themselves."""

import dataclasses
import unittest
from typing import Literal

from agents.parts import settings
from agents.parts.settings import SettingError, setting


@dataclasses.dataclass(frozen=True)
class Example:
    """One field of each kind."""

    count: int = setting(1, "things", low=1)
    share: float = setting(0.5, "of all", low=0, high=1)
    limit: float | None = setting(None, "nats", above=0)
    switch: bool = setting(True, "on or off")
    name: str = setting("a", "text")
    sizes: tuple[int, ...] = setting((1, 2), "units", low=1)
    kind: Literal["x", "y"] = setting("x", "one of two")

    def __post_init__(self):
        settings.check(self)


class CheckTest(unittest.TestCase):
    """Types and ranges."""

    def refuse(self, message, **values):
        """Expect an error that says a message."""
        with self.assertRaisesRegex(SettingError, message):
            Example(**values)

    def test_values_are_brought_to_their_type_without_loss(self):
        example = Example(count=3.0, share=1, sizes=[4], limit=2)
        self.assertEqual((example.count, example.share), (3, 1.0))
        self.assertEqual((example.sizes, example.limit), ((4,), 2.0))
        self.assertIsInstance(example.count, int)
        self.assertIsInstance(example.share, float)

    def test_another_type_is_an_error_that_names_both(self):
        self.refuse("count must be a whole number, but is 2.5", count=2.5)
        self.refuse("count must be a whole number, but is True", count=True)
        self.refuse("share must be a number, but is 'x'", share="x")
        self.refuse("switch must be true or false, but is 1", switch=1)
        self.refuse("name must be a text, but is 3", name=3)
        self.refuse("kind must be 'x' or 'y', but is 'z'", kind="z")
        self.refuse("limit must be a number or null, but is 'x'", limit="x")
        self.refuse("sizes must be .*, but is 5", sizes=5)

    def test_out_of_range_is_an_error_that_names_the_bound(self):
        self.refuse("count must be at least 1, but is 0", count=0)
        self.refuse("share must be at most 1, but is 1.5", share=1.5)
        self.refuse("share must be finite, but is nan", share=float("nan"))
        self.refuse("limit must be above 0, but is 0.0", limit=0)
        self.refuse("sizes must be at least 1", sizes=[3, 0])


class NamesTest(unittest.TestCase):
    """Unknown names."""

    def test_an_unknown_name_comes_with_the_nearest(self):
        with self.assertRaisesRegex(SettingError, "'cout' .*did you mean count?"):
            settings.check_names(["cout"], ["count", "share"], "The setting")

    def test_a_name_unlike_any_comes_with_all(self):
        with self.assertRaisesRegex(SettingError, "known are count, share"):
            settings.check_names(["zzz"], ["share", "count"], "The setting")

    def test_too_many_to_name_them_all(self):
        self.assertEqual(
            settings.nearest("zzz", ["share"], "see there"), ": see there."
        )


if __name__ == "__main__":
    unittest.main()
