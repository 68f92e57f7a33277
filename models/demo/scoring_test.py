"""Tests of scoring.py: /usr/bin/python3 models/demo/scoring_test.py"""

import unittest
from pathlib import Path

from scoring import SETS, is_right, load_rows, mcnemar, wilson

CALL = {"name": "set_timer", "arguments": {"minutes": 5}}


class ScoringTest(unittest.TestCase):
    def test_calls_compare_as_json(self):
        row = {"expected": CALL}
        spaced = '<tool_call>{"arguments": {"minutes":5},  "name": "set_timer"}</tool_call>'
        self.assertTrue(is_right("tools", spaced, row))
        self.assertFalse(is_right("tools", spaced.replace("5", "6"), row))
        self.assertFalse(is_right("tools", spaced[:-1], row))
        self.assertFalse(is_right("tools", "<tool_call>{broken</tool_call>", row))

    def test_a_refusal_calls_nothing(self):
        row = {"expected": None}
        self.assertTrue(is_right("tools", "I cannot do that with the tools I have.", row))
        self.assertFalse(is_right("tools", "<tool_call>{broken</tool_call>", row))
        self.assertFalse(is_right("tools", "<tool_call>{}</tool_call>", row))

    def test_facts_compare_as_text(self):
        self.assertTrue(is_right("facts", "하노이예요.", {"expected": "하노이예요."}))
        self.assertFalse(is_right("facts", "하노이예요", {"expected": "하노이예요."}))

    def test_diagnoses_compare_as_json(self):
        row = {"expected": {"state": "normal"}}
        self.assertTrue(is_right("diagnosis", '{ "state":"normal" }', row))
        self.assertFalse(is_right("diagnosis", "normal", row))

    def test_wilson(self):
        # The ends are the shares p that lie z deviations sqrt(p (1 - p) / n) from the one seen.
        for right, n in ((10, 20), (116, 120), (0, 7), (7, 7)):
            for p in wilson(right, n):
                self.assertAlmostEqual((right / n - p) ** 2, 1.96**2 * p * (1 - p) / n)
        self.assertEqual(wilson(0, 0), (0.0, 1.0))

    def test_mcnemar(self):
        # At most 1 of 10 fair coins: (1 + 10) / 2^10, and as much on the other side.
        self.assertAlmostEqual(mcnemar(1, 9), 22 / 1024)
        self.assertEqual(mcnemar(9, 1), mcnemar(1, 9))
        self.assertEqual(mcnemar(5, 5), 1.0)
        self.assertEqual(mcnemar(0, 0), 1.0)

    def test_the_sets_are_whole(self):
        folder = Path(__file__).parent
        self.assertEqual([len(load_rows(folder, name)) for name in SETS], [2000, 2000, 600])
        self.assertEqual(len(load_rows(folder, "facts", 3)), 3)


if __name__ == "__main__":
    unittest.main()
