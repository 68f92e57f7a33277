"""Plans, simulated chips and failing devices at the command line: run with
`python3 tests/cli/soc_test.py build/tandem`.
"""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cli_test  # noqa: E402
from cli_test import ANSWER, QUESTION, CliTest  # noqa: E402

del cli_test.Usage, cli_test.Output, cli_test.Run  # their own ctest entry runs them
del cli_test.ChatThroughAPipe, cli_test.ChatAtATerminal

SOC = "snapdragon-8-gen-3"
DELEGATION = pathlib.Path(__file__).resolve().parent.parent.parent / "models/delegation.json"


class RunOnASoc(CliTest):
    def run_on_soc(self, *flags):
        code, out, err = cli_test.tandem("run", "--temp", "0", "--soc", SOC, *flags, QUESTION)
        self.assertEqual(code, 0, err)
        return out.strip(), err

    def test_answers_with_real_tokens_and_says_that_times_are_simulated(self):
        out, err = self.run_on_soc()
        self.assertEqual(out, ANSWER)
        self.assertIn(f"simulated: {SOC}: first token ", err)

    def test_stats_have_one_clock(self):
        _, err = self.run_on_soc("--stats")
        self.assertIn("Delegated ", err)
        self.assertIn("mJ/token", err)
        self.assertNotIn("load ", err, "loading is this machine's time")
        code, out, _ = cli_test.tandem("run", "--temp", "0", "--soc", SOC, "--json", "--stats",
                                       QUESTION)
        self.assertEqual(code, 0)
        stats = json.loads(out)["stats"]
        self.assertEqual(stats["simulated"], SOC)
        self.assertNotIn("load_seconds", stats)
        self.assertGreater(stats["prefill_joules"], 0)

    def test_simulated_time_does_not_depend_on_this_machine(self):
        one = self.run_on_soc("--threads", "1")[1]
        self.assertEqual(one, self.run_on_soc("--threads", "2")[1])

    def test_a_cache_or_a_warm_up_hides_compiling_from_the_first_answer(self):
        def first_token(*flags):
            out = self.ok("run", "--temp", "0", "--soc", SOC, "--json", "--stats", *flags, QUESTION)
            return json.loads(out)["stats"]
        cold = first_token()
        self.assertGreater(cold["compile_seconds"], 0)
        warm = first_token("--warmup")
        self.assertAlmostEqual(cold["first_token_seconds"] - warm["first_token_seconds"],
                               cold["compile_seconds"] + cold["wake_seconds"], places=6)
        self.assertGreater(cold["wake_seconds"], 0)
        for speed in ("prefill_tokens_per_second", "decode_tokens_per_second"):
            self.assertAlmostEqual(cold[speed], warm[speed], places=3)
        cache = ("--compile-cache", self.path("cache"))
        self.assertEqual(first_token(*cache)["compile_seconds"], cold["compile_seconds"])
        self.assertEqual(first_token(*cache)["compile_seconds"], 0)
        for entry in (self.folder / "cache").iterdir():
            entry.write_bytes(entry.read_bytes()[:40])
        self.assertEqual(first_token(*cache)["compile_seconds"], cold["compile_seconds"])

    def test_whatever_fails_the_answer_is_the_same(self):
        for kind in ("hang", "error", "lost", "oom"):
            for phase in ("prefill", "decode"):
                with self.subTest(kind=kind, phase=phase):
                    out, err = self.run_on_soc("--inject-fault", f"{kind}:{phase}", "--check",
                                               "1/1", "--deadline", "0.2")
                    self.assertEqual(out, ANSWER)
                    self.assertIn("npu was given up", err)
                    self.assertIn("the processor went on", err)

    def test_a_wrong_result_is_found_in_every_arithmetic(self):
        for soc in (SOC, "intel-lunar-lake", "rk3588", "cortex-m85-ethos-u85"):
            for phase in ("prefill", "decode"):
                with self.subTest(soc=soc, phase=phase):
                    code, out, err = cli_test.tandem(
                        "run", "--temp", "0", "--soc", soc, "--inject-fault", f"wrong:{phase}",
                        "--check", "1/1", QUESTION)
                    self.assertEqual((code, out), (0, ANSWER + "\n"))
                    self.assertIn(f"npu was given up in {phase}", err)

    def test_h02_asking_for_an_npu_that_is_not_there(self):
        self.fails(1, ["run", "--require-npu", "all", QUESTION], "there is no NPU here")
        self.fails(1, ["run", "--soc", "no-such-chip", QUESTION], "no-such-chip", SOC)
        self.fails(1, ["run", "--soc", self.path("missing.json"), QUESTION], "missing.json")
        self.fails(1, ["run", "--soc", self.path("bad.json", "{"), QUESTION], "bad.json")

    def test_h02_a_model_that_the_npu_cannot_run_whole(self):
        self.fails(1, ["run", "--soc", SOC, "--require-npu", "all", "--pin", "*=npu", "--pin",
                       "*.attention=cpu", QUESTION], "would run on the host", "attention", "pinned_by_user")

    def test_wrong_flags_are_code_2(self):
        for flags in (["--check", "256"], ["--pin", "x"], ["--objective", "speed"],
                      ["--inject-fault", "melt:decode"], ["--pin", "*=gpu"]):
            with self.subTest(flags=flags):
                self.fails(2, ["run", "--soc", SOC, *flags, QUESTION], flags[1])


class Plan(CliTest):
    def test_text_json_and_page(self):
        page = self.path("plan.html")
        out = self.ok("plan", "--soc", SOC, "--html", page)
        self.assertIn("Delegated ", out)
        self.assertIn(f"simulated: {SOC}", out)
        report = json.loads(self.ok("plan", "--soc", SOC, "--json"))
        self.assertEqual(report["schema"], "tandem.plan_report.v1")
        self.assertEqual(report["simulated"], SOC)
        for phase in report["delegation"]:
            self.assertEqual(len(phase["not_delegated"]), phase["nodes"] - phase["delegated"])
            self.assertTrue(all(node["reasons"] for node in phase["not_delegated"]))
        html = pathlib.Path(page).read_text()
        self.assertIn(f"simulated: {SOC}", html)
        self.assertNotIn("http", html)

    def test_pins_are_kept(self):
        report = json.loads(self.ok("plan", "--soc", SOC, "--json", "--pin",
                                    "layers.*.attention=cpu"))
        for phase in report["delegation"]:
            for node in phase["placement"]:
                if node["node"].endswith(".attention"):
                    self.assertEqual(node["device"], "cpu")

    def test_comparison(self):
        plans = json.loads(self.ok("plan", "--soc", SOC, "--baselines", "--json"))["plans"]
        self.assertEqual([p["policy"] for p in plans], ["planned", "cpu only", "node by node"])
        seconds = [p["report"]["prediction"]["seconds"] for p in plans]
        self.assertLessEqual(seconds[0], min(seconds[1:]) * 1.0001)

    def test_a_shape_needs_no_file(self):
        report = json.loads(self.ok("plan", "--shape", "Llama-3.2-1B", "--type", "Q8_0", "--soc",
                                    SOC, "--json"))
        self.assertGreater(report["plan"]["weight_bytes"], 1.2e9)
        self.fails(2, ["plan", "--shape", "Llama-9B", "--soc", SOC], "Llama-9B", "Llama-3.2-1B")

    def test_policies(self):
        def delegated(policy):
            report = json.loads(self.ok("plan", "--soc", "ryzen-ai-5-340", "--policy", policy,
                                        "--json"))
            return {p["phase"]: p["delegated"] for p in report["delegation"]}["decode"]
        self.assertEqual(delegated("cpu-only"), 0)
        self.assertGreater(delegated("node-by-node"), 90)
        self.fails(2, ["plan", "--soc", SOC, "--policy", "magic"], "magic", "node-by-node")

    def test_the_gate_tracks_delegation_on_every_profile(self):
        baseline = json.loads(DELEGATION.read_text())
        profiles = {p.stem for p in DELEGATION.parent.parent.glob("profiles/*.json")}
        self.assertEqual({name.split(" on ")[1] for name in baseline["metrics"]}, profiles)
        self.ok("gate", "--baseline", str(DELEGATION))
        nodes = baseline["metrics"][f"Llama-3.2-1B on {SOC}"]["prefill nodes"]
        nodes["value"] += 1
        raised = self.path("raised.json", json.dumps(baseline))
        out = self.fails(1, ["gate", "--baseline", raised], "1 of ", "regressed")
        line, = [line for line in out.splitlines() if "REGRESSED" in line]
        self.assertIn(f"Llama-3.2-1B on {SOC}", line)

    def test_this_machine(self):
        out = self.ok("plan")
        self.assertIn("Delegated 0 of ", out)
        self.assertNotIn("simulated", out)
        self.fails(1, ["plan", "--require-npu", "all"], "there is no device but the host")

    def test_profile_writes_a_trace(self):
        path = self.path("trace.json")
        out = self.ok("profile", "--soc", SOC, "-o", path, "--prompt-tokens", "64")
        self.assertIn("two devices at work at once", out)
        trace = json.loads(pathlib.Path(path).read_text())
        self.assertEqual(trace["otherData"]["clock"], f"simulated: {SOC}")
        self.check_trace_events(trace)

    def check_trace_events(self, trace):
        """The Trace Event Format's JSON object form: complete events and metadata, lanes whose boxes
        nest or follow each other."""
        self.assertEqual(trace["displayTimeUnit"], "ms")
        named, lanes = set(), {}
        for event in trace["traceEvents"]:
            self.assertIn(event["ph"], ("M", "X"))
            self.assertIsInstance(event["pid"], int)
            if event["ph"] == "M":
                self.assertIn(event["name"], ("process_name", "thread_name"))
                self.assertTrue(event["args"]["name"])
                named.add((event["pid"], event.get("tid")))
                continue
            self.assertIn((event["pid"], None), named)
            self.assertIn((event["pid"], event["tid"]), named)
            self.assertTrue(event["name"])
            self.assertGreaterEqual(event["ts"], 0)
            self.assertGreaterEqual(event["dur"], 0)
            lanes.setdefault((event["pid"], event["tid"]), []).append(
                (event["ts"], event["ts"] + event["dur"]))
        self.assertTrue(lanes)
        for boxes in lanes.values():
            boxes.sort()
            for (_, end), (start, _) in zip(boxes, boxes[1:]):
                self.assertGreaterEqual(start, end - 1e-3)

    def test_two_devices_overlap_in_the_trace(self):
        path = self.path("trace.json")
        out = self.ok("profile", "--shape", "Llama-3.2-1B", "--soc", SOC, "--prompt-tokens", "512",
                      "--generate", "1", "--pin", "layers.*.attention=cpu", "-o", path)
        self.assertNotIn("at once for 0", out)
        trace = json.loads(pathlib.Path(path).read_text())
        self.check_trace_events(trace)
        names = {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}
        self.assertEqual(names, {"npu", "cpu", "DRAM"})

    def test_profile_of_this_machine(self):
        path = self.path("trace.json")
        out = self.ok("profile", "--prompt-tokens", "40", "--generate", "3", "--chunk", "32", "-o",
                      path)
        self.assertNotIn("simulated", out)
        trace = json.loads(pathlib.Path(path).read_text())
        self.assertEqual(trace["otherData"]["clock"], "measured")
        self.check_trace_events(trace)
        boxes = [e["name"] for e in trace["traceEvents"] if e["ph"] == "X"]
        self.assertEqual(boxes.count("prompt chunk 0"), 1)
        self.assertEqual(boxes.count("prompt chunk 1"), 1)
        self.assertEqual(boxes.count("token 2"), 1)
        self.assertEqual(boxes.count("layer 0"), 5)
        self.assertEqual(boxes.count("layers.0.attention"), 5)
        for lane in ("attention", "linear", "rms_norm", "glu"):
            self.assertRegex(out, rf"(?m)^cpu +{lane} +[\d.]+ (s|ms|us|ns) ")
        self.fails(2, ["profile", "--shape", "Llama-3.2-1B", "-o", path], "has no weights")


if __name__ == "__main__":
    cli_test.PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
