"""tandem eval and tandem gate as users meet them: python3 tests/cli/eval_test.py build/tandem."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
DEMO = pathlib.Path(__file__).resolve().parents[2] / "models" / "demo"
TEXT = "precocious: characterized by exceptionally early development.\n"  # heldout.txt, shortened
FACTS = "".join((DEMO / "eval_facts.jsonl").open(encoding="utf-8").readlines()[:4])


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


class EvalTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tandem_eval_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.text = self.path("text.txt", TEXT * 6)

    def path(self, name, content=None):
        path = self.folder / name
        if content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def run_program(self, expected_code, *arguments):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=120, check=False)
        out, err = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, expected_code, out + err)
        return out, err

    def document(self, *arguments, code=0):
        out, err = self.run_program(code, "eval", "--json", *arguments)
        document = json.loads(out, parse_constant=no_constant)
        self.assertEqual(document["schema"], "tandem.eval.v1")
        return document, err

    def broken_model(self):
        """The demo model with a NaN in one weight of layer 1; returns path and tensor."""
        data = bytearray((DEMO / "demo-f16.gguf").read_bytes())
        out, _ = self.run_program(0, "inspect", "--json", str(DEMO / "demo-f16.gguf"))
        tensor = next(t for t in json.loads(out)["tensors"] if t["name"] == "blk.1.ffn_up.weight")
        data[tensor["offset"]:tensor["offset"] + 2] = b"\x00\x7e"
        return self.path("broken.gguf", bytes(data)), tensor["name"]


class Eval(EvalTest):
    def test_perplexity_with_interval_and_definition(self):
        text = self.document("--text", self.text, "--window", "32")[0]["text"]
        perplexity = text["perplexity"]
        self.assertLess(perplexity["low"], perplexity["value"])
        self.assertLess(perplexity["value"], perplexity["high"])
        self.assertEqual(text["scored"], text["tokens"] - 1)
        self.assertIn("windows of 32, stride 16", text["definition"])
        out, _ = self.run_program(0, "eval", "--text", self.text, "--window", "32", "--chunked")
        self.assertIn("disjoint chunks of 32", out)

    def test_llama_cpp_needs_two_windows(self):
        text = self.document("--text", self.text, "--llama-cpp", "--window", "32")[0]["text"]
        self.assertEqual(text["scored"], text["windows"] * 15)
        _, err = self.run_program(2, "eval", "--text", self.text, "--llama-cpp")
        self.assertIn("two windows of 512", err)

    def test_stored_logits_belong_to_a_text(self):
        logits = self.path("x.logits")
        self.document("--text", self.text, "--window", "32", "--save-logits", logits)
        divergence = self.document("--text", self.text, "--window", "32", "--logits",
                                   logits)[0]["text"]["divergence"]
        self.assertLess(divergence["max"], 2e-8)
        self.assertEqual(divergence["same_top"]["value"], 1)
        _, err = self.run_program(2, "eval", "--text", self.text, "--logits", logits)
        self.assertIn("other windows", err)

    def test_reference_model(self):
        divergence = self.document("--text", self.text, "--window", "32", "--reference",
                                   str(DEMO / "demo-f16.gguf"))[0]["text"]["divergence"]
        self.assertEqual(divergence["max"], 0)
        self.assertEqual(divergence["perplexity_ratio"]["value"], 1)

    def test_nan_stops_with_null_and_reason(self):
        model, _ = self.broken_model()
        document, err = self.document("-m", model, "--text", self.text, code=1)
        self.assertIsNone(document["text"]["perplexity"])
        for part in ("window 1 of", "layers.1.", "position 0"):
            self.assertIn(part, document["text"]["reason"])
            self.assertIn(part, err)
        self.assertEqual(document["failure"]["code"], "numeric")

    def test_nan_in_a_task_names_its_line(self):
        model, _ = self.broken_model()
        facts = self.path("facts.jsonl", FACTS)
        document, _ = self.document("-m", model, "--tasks", facts, code=1)
        self.assertIn("facts.jsonl: line 1", document["failure"]["reason"])

    def test_scan_weights_names_the_tensor(self):
        model, tensor = self.broken_model()
        _, err = self.run_program(1, "eval", "-m", model, "--scan-weights", "--text", self.text)
        self.assertIn(f"tensor {tensor}: row 0, element 0", err)

    def test_tasks_and_paired_comparison(self):
        facts, items = self.path("facts.jsonl", FACTS), self.path("items")
        task = self.document("--tasks", facts, "--save-items", items)[0]["tasks"][0]
        self.assertEqual((task["n"], task["right"]), (4, 4))
        paired = self.document("--tasks", facts, "--against", items)[0]["tasks"][0]["against"]
        self.assertEqual((paired["only_this"], paired["only_other"]), (0, 0))
        self.assertEqual(paired["p_value"], 1)

    def test_bad_usage(self):
        for arguments, part in ((["eval"], "--text or --tasks"),
                                (["eval", "--tasks", "x", "--logits", "y"], "need --text"),
                                (["eval", "--text", "x", "--against", "y"], "need --tasks"),
                                (["eval", "--text", self.text, "--window", "1"], "window of 1"),
                                (["gate"], "--baseline")):
            _, err = self.run_program(2, *arguments)
            self.assertIn(part, err)


class Gate(EvalTest):
    def baseline(self, **accuracy):
        self.path("facts.jsonl", FACTS)
        return self.path("baseline.json", json.dumps({
            "schema": "tandem.gate.v1",
            "evaluation": {"text": "text.txt", "window": 32, "stride": 16,
                           "tasks": [{"file": "facts.jsonl"}]},
            "metrics": {"accuracy": accuracy}}))

    def test_pass_regression_and_update(self):
        good = {"value": 1.0, "better": "higher"}
        self.run_program(0, "gate", "--baseline", self.baseline(facts=good))
        path = self.baseline(facts=good, perplexity={"value": 1.01, "relative_tolerance": 0.01,
                                                     "better": "lower"})
        out, err = self.run_program(1, "gate", "--baseline", path)
        self.assertRegex(out, r"accuracy +perplexity +1.01 .*REGRESSED")
        self.assertRegex(out, r"accuracy +facts +1 .*same")
        self.assertIn("1 of 2 figures regressed", err)
        self.run_program(0, "gate", "--baseline", path, "--update")
        out, _ = self.run_program(0, "gate", "--baseline", path, "--json")
        result = json.loads(out)
        self.assertEqual(result["schema"], "tandem.gate_result.v1")
        self.assertTrue(result["passed"])

    def test_figures_of_other_programs(self):
        path = self.path("b.json", json.dumps({
            "schema": "tandem.gate.v1",
            "metrics": {"delegation": {"nodes": {"value": 7, "better": "equal"}}}}))
        figures = self.path("m.json", json.dumps({
            "schema": "tandem.metrics.v1", "metrics": {"delegation": {"nodes": 7}}}))
        self.run_program(0, "gate", "--baseline", path, "--metrics", figures)
        out, _ = self.run_program(1, "gate", "--baseline", path)
        self.assertIn("MISSING", out)

    def test_nan_is_missing(self):
        model, _ = self.broken_model()
        path = self.baseline(perplexity={"value": 1.01, "better": "lower"})
        out, err = self.run_program(1, "gate", "-m", model, "--baseline", path)
        self.assertIn("MISSING", out)
        self.assertIn("layers.1.", err)
        before = pathlib.Path(path).read_bytes()
        self.run_program(1, "gate", "-m", model, "--baseline", path, "--update")
        self.assertEqual(pathlib.Path(path).read_bytes(), before)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: eval_test.py PROGRAM [unittest arguments]")
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
