#!/bin/sh
# action.sh ROOT TOOLKIT: action.yml is an action as GitHub's metadata syntax has it, and does in a job what it says. Jobs are
# played here: a cleared environment, the files that GitHub gives a step, the step's own command and inputs as action.yml
# has them, and examples/one_umma as the project that uses it. TOOLKIT: the toolkit.env by whose nvcc the tests were built.
# The emulator in ROOT/build/ is up to date, and an nvcc is named, so that nothing is built anew and nothing is fetched.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1
# shellcheck disable=SC1090,SC2153
nvcc=$(. "$2" && echo "$NVCC")
cc=$(cut -d' ' -f1 "$root/build/emulator/flags")

# ---------------------------------------------------------------- the text
# wrong FILE: what breaks the metadata syntax for composite actions, or names an input that is not declared
wrong() {
    sed -n '/^inputs:/,/^runs:/s/^  \([a-z]*\):$/\1/p' "$1" | sort >"$scratch/declared"
    grep -o 'inputs\.[a-z_-]*' "$1" | sed 's/.*\.//' | sort -u | diff "$scratch/declared" - |
        sed -n 's/^< /declared and not used: /p; s/^> /used and not declared: /p'
    python3 -I -c 'import yaml' 2>/dev/null || return 0
    python3 -I - "$1" <<'SYNTAX'
import sys, yaml
action = yaml.safe_load(open(sys.argv[1]))
def keys(what, where, needed, allowed):
    for key in needed - where.keys():
        print(f"{what} lacks {key}")
    for key in where.keys() - needed - allowed:
        print(f"{what} has {key}, which is no key of it")
keys("the action", action, {"name", "description", "runs"}, {"author", "branding", "inputs", "outputs"})
for name, value in action.get("inputs", {}).items():
    keys(f"input {name}", value, {"description"}, {"default", "required", "deprecationMessage"})
    if not isinstance(value.get("default", ""), str):
        print(f"input {name}: the default is no string")
keys("runs", action["runs"], {"using", "steps"}, set())
if action["runs"].get("using") != "composite":
    print("runs: not composite")
for step in action["runs"].get("steps", []):
    keys("a step", step, {"run", "shell"}, {"name", "id", "if", "env", "working-directory", "continue-on-error"})
SYNTAX
}
# breach SED TEXT: with action.yml changed so, TEXT is said
breach() {
    sed "$1" "$root/action.yml" >"$scratch/action.yml"
    [ "$(wrong "$scratch/action.yml")" = "$2" ] || failed "$1 gives: $(wrong "$scratch/action.yml")"
}
breach '' ''
breach 's/inputs.run /inputs.runs /' 'declared and not used: run
used and not declared: runs'
if python3 -I -c 'import yaml' 2>/dev/null; then
    breach '/^ *shell:/d' 'a step lacks shell'
    breach 's/^name:/title:/' 'the action lacks name
the action has title, which is no key of it'
    breach "s/default: 'true'/default: true/" 'input toolkit: the default is no string'
    breach 's/using: composite/using: node20/' 'runs: not composite'
else
    echo "there is no PyYAML here: of action.yml only the names of its inputs were checked"
fi

# ---------------------------------------------------------------- jobs
# job: a new one; its project is the example
job() {
    rm -rf "$scratch/job"
    mkdir -p "$scratch/job/temp"
    cp -r "$root/examples/one_umma" "$scratch/job/workspace"
    : >"$scratch/job/path"
    : >"$scratch/job/env"
}

# in_job NAME=VALUE... COMMAND...: what a step of the job has around it, those before it included; sets out and code
in_job() {
    path=$PATH
    while IFS= read -r folder; do path=$folder:$path; done <"$scratch/job/path"
    while IFS= read -r line; do set -- "$line" "$@"; done <"$scratch/job/env"
    out=$(cd "$scratch/job/workspace" && env -i HOME="$HOME" PATH="$path" CC="$cc" NVCC="$nvcc" WHEELS="$scratch/none" \
        ${MAKEFLAGS:+"MAKEFLAGS=$MAKEFLAGS"} GITHUB_ACTION_PATH="$root" GITHUB_WORKSPACE="$scratch/job/workspace" \
        RUNNER_TEMP="$scratch/job/temp" GITHUB_PATH="$scratch/job/path" GITHUB_ENV="$scratch/job/env" "$@" 2>&1)
    code=$?
}

# action INPUT=VALUE...: the step of action.yml with these inputs, the others with their defaults
action() {
    given=$(printf '%s\n' "$@")
    set --
    for input in $(sed -n '/^inputs:/,/^runs:/s/^  \([a-z]*\):$/\1/p' "$root/action.yml"); do
        value=$(sed -n "/^  $input:/,/default:/s/.*default: '\(.*\)'/\1/p" "$root/action.yml")
        case "
$given" in
        *"
$input="*) value=$(printf '%s\n' "$given" | sed -n "s/^$input=//p") ;;
        esac
        name=$(sed -n "s/^ *\([A-Z_]*\): \${{ inputs.$input }}$/\1/p" "$root/action.yml")
        set -- "$@" "$name=$value"
    done
    in_job "$@" sh -e -c "$(sed -n 's/^ *- run: //p' "$root/action.yml")"
}

job
build='cmake -S . -B out && cmake --build out && ctest --test-dir out --output-on-failure'
gives 0 '*emulator.forgotten_wait*Passed*100% tests passed*' "the example's tests in a job" \
    action "run=$build" 'options=--schedule=lazy --gpc-sizes=74,74 --time'
in_job sh -e -c 'sm100emu --version; command -v nvcc; echo "$SM100EMU_SCHEDULE $SM100EMU_GPC_SIZES"; sm100emu out/one_umma'
expect 0 "sm100emu *$nvcc
lazy 74,74
*one_umma*warp instructions*PASS  one_umma*" "a later step of that job"

gives 0 '*warp instructions*PASS  one_umma*' "direct=true" action toolkit=false direct=true run=out/one_umma

mkdir "$scratch/bin"
printf 'echo 9.0\necho 10.3\n' | stand_in "$scratch/bin/nvidia-smi"
gives 0 '*: gpu*: emulator.default*Total Tests: 8' "the example on a machine with a B300" \
    in_job sh -e -c "PATH=$scratch/bin:\$PATH; cmake -S . -B out >log; ctest --test-dir out -N"
gives 0 '*100% tests passed*' "the example with the static runtime" \
    in_job sh -c "sed -i 's/CMAKE_CUDA_RUNTIME_LIBRARY Shared/CMAKE_CUDA_RUNTIME_LIBRARY Static/' CMakeLists.txt; $build"

job
gives 0 '*' "no commands" action toolkit=false
[ "$(cat "$scratch/job/path")" = "$root/build" ] || failed "toolkit=false: the path has $(cat "$scratch/job/path")"
gives 3 '*' "a command that fails" action toolkit=false 'run=exit 3'
gives 1 '*' "a command before the last that fails" action toolkit=false 'run=false; echo on'
gives 2 '*--schedule=odd: expected default, eager*' "a wrong value of an option" \
    action toolkit=false options=--schedule=odd
gives 2 '*--explore=5 is for a single command*' "an option that is for no job" action toolkit=false options=--explore=5
gives 2 "*toolkit is true or false, not 'yes'" "a wrong value of an input" action toolkit=yes
exit $bad
