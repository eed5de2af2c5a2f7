"""test_forms_of.py ROOT EMULATOR LAUNCH_PTX: forms_of.py on PTX and on the emulator's counters; known_good.txt."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import forms_of

ROOT, EMULATOR, LAUNCH = sys.argv[1:4]

# Two functions, one of them never called; a guard that is false everywhere; an instruction that is jumped over; labels,
# lists in braces, a block, two instructions in a line, and words that are no instructions.
PTX = """.version 8.7 // mul.f32 in a comment
.target sm_100a
.address_size 64
.global .align 4 .b8 table[4] = {1, 2, 3, 4}; /*; div.s32 %r1, %r1, %r1; */
.global .align 8 .b64 where[1] = { table };
.func (.param .b32 r) called(.param .b32 x)
{
    .reg .b32 %r;
    ld.param.u32 %r, [x];
    add.s32 %r, %r, 1; st.param.b32 [r], %r;
    ret;
}
.func never()
{
    membar.gl;
    ret;
}
.visible .entry kernel(.param .u64 out)
.maxntid 32
{
    .reg .pred %p, %q;
    .reg .b32 %a, %b, %x;
    .reg .b64 %o;
    .reg .b32 last; // ; mul.hi.u32 %a, %a, %a;
    .pragma "nounroll; xor.b32 ;";
    ld.param.u64 %o, [out];
    mov.b64 {%a, %b}, %o;
    setp.ne.b32 %p, 0, 0;
    @%p rem.s32 %x, %a, %b;
    @!%p bra OVER;
    fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;
AGAIN: OVER:
    .loc 1 2 3
    sub.s32 %x, %a, %b;
    ld.global.b32{last},[table];
    elect.sync _|%q, 0xffffffff;
    {
        .reg .b32 %n;
        .param .b32 in; .param .b32 back;
        mov.u32 %n, 7;
        st.param.b32[in], %n;
        call.uni (back), called, (in);
        ld.param.b32 %x, [back];
    }
    @%q st.global.v4.b32 [%o], {%x, %x,
        %x, %x};
    exit;
}
"""
EXECUTED = set(
    """add.s32 bra call.uni elect.sync exit ld.global.b32 ld.param.b32 ld.param.u32 ld.param.u64 mov.b64 mov.u32 ret
    setp.ne.b32 st.global.v4.b32 st.param.b32 sub.s32""".split()
)
NOT_EXECUTED = {"membar.gl", "rem.s32", "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster"}


class Forms(unittest.TestCase):
    """What counts as a form."""

    def test_text(self):
        self.assertEqual(forms_of.in_text(PTX), EXECUTED | NOT_EXECUTED)

    def test_one(self):
        for text, want in (
            ("@!%p1 tcgen05.commit.cta_group::1.b64 [%r1];", "tcgen05.commit.cta_group::1.b64"),
            ("$L__BB0_1: setp.lt.s32 %p|%q, %r1, 2;", "setp.lt.s32"),
            ("@ready bra.uni DONE;", "bra.uni"),
            ("tcgen05.ld.sync.aligned.32x32b.x2.b32{%r1, %r2},[%r3];", "tcgen05.ld.sync.aligned.32x32b.x2.b32"),
            ("tcgen05.st.sync.aligned.16x256b.x1.b32[%r1],", "tcgen05.st.sync.aligned.16x256b.x1.b32"),
            ("ret;", "ret"),
            (".reg .b32 %r;", None),
            ("targets: .branchtargets A, B;", None),
            ("", None),
        ):
            self.assertEqual(forms_of.form(text), want)

    def test_executed(self):
        """The emulator names what ran: all but what no lane reached."""
        with tempfile.TemporaryDirectory() as scratch:
            source, stats = os.path.join(scratch, "forms.ptx"), os.path.join(scratch, "stats.json")
            with open(source, "w", encoding="utf-8") as f:
                f.write(PTX.replace("1; st", "1;\nst").replace(".loc", "// .loc"))
            command = [EMULATOR, "--stats-json=" + stats, LAUNCH, source, "kernel", "out:16"]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual((ran.returncode, ran.stdout), (0, "out 00000008 00000008 00000008 00000008\n"), ran.stderr)
            self.assertEqual(forms_of.forms_of(stats), EXECUTED)
            self.assertEqual(forms_of.table([stats, source]), {f: 1 + (f in EXECUTED) for f in EXECUTED | NOT_EXECUTED})

    def test_refused(self):
        """With -lineinfo a line of the counters is one of C++ and names one of its instructions: refused. So is a text
        that is no instruction."""
        line = {"text": "add.s32 %r1, %r1, 1;", "lanes": 32, "ptx_line": 9}
        self.assertEqual(forms_of.executed({"launches": [{"lines": [line | {"line": 0}]}]}), {"add.s32"})
        with self.assertRaises(ValueError):
            forms_of.executed({"launches": [{"lines": [line | {"line": 3}]}]})
        with self.assertRaises(ValueError):
            forms_of.executed({"launches": [{"lines": [line | {"text": "Add.s32 %r1, %r1, 1;"}]}]})


class KnownGood(unittest.TestCase):
    """known_good.txt: programs in the header, then `FORM PROGRAMS`."""

    def test_form(self):
        with open(os.path.join(ROOT, "tests", "silicon", "known_good.txt"), encoding="utf-8") as f:
            lines = f.read().splitlines()
        programs = [line for line in lines if re.match(r"#   \S+ {2,}\S", line)]
        rows = [line.split(" ") for line in lines if not line.startswith("#")]
        names = [row[0] for row in rows]
        self.assertTrue(programs and rows)
        self.assertEqual(names, sorted(set(names)))
        for row in rows:
            self.assertEqual(len(row), 2, row)
            self.assertEqual(forms_of.form(row[0]), row[0])
            self.assertIn(int(row[1]), range(1, len(programs) + 1), row)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
