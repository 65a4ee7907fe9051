#if os(Linux) || os(macOS)
import Foundation
import KeelToolsTestSupport
import Testing

@Suite("The command keel secrets exec", .timeLimit(.minutes(30)))
struct SecretsExecTests {
    private let scratch: Scratch
    private let place: [String]

    init() throws {
        scratch = try Scratch()
        place = [
            "--service", "app", "--store", "file:\(scratch.file("store").path)", "--key-file",
            scratch.file("key").path,
        ]
        for (key, value) in [("api-token", "s3cret"), ("url", "https://a b")] {
            let set = try KeelProcess(["secrets", "set", key] + place, input: value).wait()
            try #require(set.code == 0, "\(set.errors)")
        }
    }

    private func exec(_ options: [String], _ command: [String]) throws -> KeelProcess {
        try KeelProcess(["secrets", "exec"] + place + options + ["--"] + command)
    }

    @Test("The program has the secrets as variables, and its output and status are the command's")
    func variables() throws {
        let print = ["/bin/sh", "-c", #"echo "$API_TOKEN|$URL|$1"; exit 7"#, "sh", "-x"]
        let all = try exec([], print).wait()
        #expect(all.code == 7 && all.output == "s3cret|https://a b|-x\n", "\(all.errors)")
        let one = try exec(["--env", "URL=api-token"], print).wait()
        #expect(one.output == "|s3cret|-x\n")
        let searched = try exec([], ["sh", "-c", "exit 0"]).wait()
        #expect(searched.code == 0)
    }

    @Test(
        "The program does not get the variable that opens the file",
        arguments: [
            ("--key-variable", String(repeating: "ab", count: 32)),
            ("--passphrase-variable", "correct horse"),
        ]
    )
    func keyVariable(option: String, value: String) throws {
        let place = [
            "--service", "app", "--store", "file:\(scratch.file("other").path)", option, "OPENS",
        ]
        let variables = ["OPENS": value]
        let set = try KeelProcess(
            ["secrets", "set", "url"] + place,
            input: "https://a",
            environment: variables
        ).wait()
        try #require(set.code == 0, "\(set.errors)")
        let run = try KeelProcess(
            ["secrets", "exec"] + place + ["--", "sh", "-c", #"echo "$URL|$OPENS""#],
            environment: variables
        ).wait()
        #expect(run.code == 0 && run.output == "https://a|\n", "\(run.errors)")
    }

    @Test("The program does not get the descriptor of the passphrase")
    func passphraseDescriptor() throws {
        _ = try scratch.file("passphrase", holding: "correct horse")
        _ = try scratch.file("value", holding: "https://a")
        let sealed = scratch.file("sealed").path
        let options = "--service app --store file:\(sealed) --passphrase-descriptor 3"
        let set = try KeelProcess(
            shell: "\"$keel\" secrets set url \(options) 3< passphrase < value",
            in: scratch.folder
        ).wait()
        try #require(set.code == 0, "\(set.errors)")
        let read = "sh -c 'echo $URL; true 2>/dev/null <&3 || echo closed'"
        let run = try KeelProcess(
            shell: "\"$keel\" secrets exec \(options) -- \(read) 3< passphrase",
            in: scratch.folder
        ).wait()
        #expect(run.output == "https://a\nclosed\n", "\(run.errors)")
    }

    @Test("The program receives signals")
    func signals() throws {
        let script = "trap 'echo ended; exit 9' INT; echo ready; while :; do sleep 0.05; done"
        let run = try exec([], ["/bin/sh", "-c", script])
        #expect(run.nextLine() == "ready")
        run.interrupt()
        let ended = run.wait()
        #expect(ended.code == 9 && ended.output == "ended\n")
    }

    @Test("Missing secrets and programs, and invalid names, are reported")
    func refusals() throws {
        let key = try exec(["--env", "A=none", "--json"], ["true"]).wait()
        #expect(key.code == 1 && key.errors.contains(#""code":"keyNotFound""#))
        let program = try exec([], ["/nowhere/program"]).wait()
        #expect(program.code == 1 && program.errors.contains("cannot be run"))
        let twice = try exec(["--env", "A=url", "--env", "A=api-token"], ["true"]).wait()
        #expect(twice.code == 1 && twice.errors.contains("two secrets"))
        for wrong in ["A", "=url", "1A=url", "A B=url", "A="] {
            #expect(try exec(["--env", wrong], ["true"]).wait().code == 64, "\(wrong)")
        }
        #expect(try KeelProcess(["secrets", "exec"] + place).wait().code == 64)
    }

    @Test("The services of a file are listed")
    func services() throws {
        let other = ["--service", "b"] + place.dropFirst(2)
        #expect(try KeelProcess(["secrets", "set", "x"] + other, input: "1").wait().code == 0)
        let listed = try KeelProcess(["secrets", "services"] + place.dropFirst(2)).wait()
        #expect(listed.code == 0 && listed.output == "app\nb\n", "\(listed.errors)")
        let platform = try KeelProcess(["secrets", "services", "--store", "platform"]).wait()
        #expect(platform.code == 64)
    }
}
#endif
