#if os(Linux) || os(macOS)
import Foundation
import KeelToolsTestSupport
import Testing

@Suite("Settings of the command line")
struct ConfigCommandTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try FileManager.default.createDirectory(
            at: scratch.folder.appending(path: "below/deeper"),
            withIntermediateDirectories: true
        )
    }

    private func keel(
        _ arguments: [String],
        _ variables: [String: String] = [:]
    ) throws -> (code: Int32, output: String, errors: String) {
        try KeelProcess(
            arguments,
            environment: ["XDG_CONFIG_HOME": scratch.file("config").path].merging(variables) { $1 },
            in: scratch.folder.appending(path: "below/deeper")
        ).wait()
    }

    @Test("Flags go before variables, variables before profiles, profiles before the file")
    func precedence() throws {
        _ = try scratch.file(
            "keel.toml",
            holding: """
                port = 1
                [serve]
                grace = 2
                [profile.staging.serve]
                port = 3
                """
        )
        func line(
            _ name: String,
            _ arguments: [String],
            _ variables: [String: String] = [:]
        ) throws -> String? {
            let result = try keel(arguments, variables)
            #expect(result.code == 0, "\(result.errors)")
            return result.output.split(separator: "\n").map(String.init)
                .first { $0.hasPrefix("\(name) = ") }
        }
        let show = ["config", "show"]
        let file = scratch.file("keel.toml").resolvingSymlinksInPath().path
        #expect(try line("serve.port", show)?.hasSuffix("\(file):1") == true)
        #expect(try line("serve.port", show)?.hasPrefix("serve.port = 1 ") == true)
        #expect(try line("proxy.port", show)?.hasPrefix("proxy.port = 1 ") == true)
        #expect(try line("serve.grace", show)?.hasSuffix("\(file):3") == true)
        #expect(try line("serve.host", show) == "serve.host = 127.0.0.1  # default")
        let profile = ["--profile", "staging"] + show
        #expect(try line("serve.port", profile)?.hasPrefix("serve.port = 3 ") == true)
        #expect(try line("serve.port", show, ["KEEL_PROFILE": "staging"])?.hasSuffix(":5") == true)
        #expect(
            try line("serve.port", profile, ["KEEL_PORT": "4"])
                == "serve.port = 4  # variable KEEL_PORT"
        )
        #expect(
            try line("serve.port", show + ["serve", "--port", "5"], ["KEEL_PORT": "4"])
                == "serve.port = 5  # command line"
        )
    }

    @Test("Commands use the store of the file, of a variable, or of the command line")
    func store() throws {
        let first = scratch.file("first.sqlite").path
        let second = scratch.file("second.sqlite").path
        _ = try scratch.file("keel.toml", holding: "[documents]\nstorage = \"\(first)\"\n")
        #expect(try keel(["documents", "set", "c/a", "{\"v\":1}"]).code == 0)
        let variable = ["KEEL_STORAGE": second]
        #expect(try keel(["documents", "set", "c/a", "{\"v\":2}"], variable).code == 0)
        let get = ["documents", "get", "c/a", "--plain"]
        #expect(try keel(get).output == "{\"v\":1}\n")
        #expect(try keel(get, variable).output == "{\"v\":2}\n")
        #expect(try keel(get + ["--storage", first], variable).output == "{\"v\":1}\n")
    }

    @Test("The user’s file counts where no folder has one")
    func userFile() throws {
        let folder = scratch.file("config/keel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        _ = try scratch.file("config/keel/config.toml", holding: "port = 9\n")
        #expect(try keel(["config", "show"]).output.contains("serve.port = 9 "))
        _ = try scratch.file("keel.toml", holding: "")
        #expect(try keel(["config", "show"]).output.contains("serve.port = 8080 "))
    }

    @Test("Secrets are not shown, and not taken from a file")
    func secrets() throws {
        let shown = try keel(["config", "show"], ["KEEL_TOKEN": "hunter2"])
        #expect(!shown.output.contains("hunter2"))
        #expect(shown.output.contains("KEEL_TOKEN = (set, not shown)"))
        _ = try scratch.file("keel.toml", holding: "token = \"hunter2\"\n")
        let refused = try keel(["config", "show"])
        #expect(refused.code == 64)
        #expect(!refused.errors.contains("hunter2"))
        #expect(refused.errors.contains("set the variable KEEL_TOKEN"))
    }

    @Test("Mistakes are named with their place and what to write")
    func mistakes() throws {
        _ = try scratch.file("keel.toml", holding: "\n[serve]\nprot = 1\n")
        let key = try keel(["serve"])
        #expect(key.code == 64)
        #expect(key.errors.contains("keel.toml:3: there is no setting “serve.prot”"))
        #expect(key.errors.contains("Write “serve.port”?"))
        _ = try scratch.file("keel.toml", holding: "[serve]\nport = 70000\n")
        let value = try keel(["serve"])
        #expect(value.code == 64)
        #expect(value.errors.contains("--port is not on the command line, but from: "))
        #expect(value.errors.contains("keel.toml:2"))
        let profile = try keel(["--profile", "x", "serve"])
        #expect(profile.errors.contains("has no profile “x”"))
    }

    @Test(
        "A command or option that there is not brings the one that is near",
        arguments: [
            (["documnets", "get"], "Did you mean keel documents?"),
            (["documents", "exprot"], "Did you mean keel documents export?"),
            (["serve", "--prot", "1"], "--port"),
            (["documents", "get", "c/a"], "KEEL_STORAGE"),
            (["config", "show", "nonsense"], "Those that have: analytics, decrypt, doctor, "),
        ]
    )
    func unknown(arguments: [String], advice: String) throws {
        let result = try keel(arguments)
        #expect(result.code == 64)
        #expect(result.errors.contains(advice), "\(result.errors)")
    }

    @Test("A server whose port is in use fails with advice")
    func portInUse() throws {
        let server = try ServedProcess(scratch.file("s.sqlite").path, port: 0)
        let second = try keel(["serve", "--storage", "memory", "--port", "\(server.port)"])
        server.kill()
        #expect(second.code == 1)
        #expect(second.errors.contains("the port \(server.port) is in use"), "\(second.errors)")
        #expect(second.errors.contains("--port"))
    }

    @Test("A server that cannot be reached is named with what to do")
    func unreachable() throws {
        let result = try keel(["documents", "get", "c/a", "--storage", "http://127.0.0.1:9"])
        #expect(result.code == 1)
        // The error, and what to do about it.
        #expect(result.errors.split(separator: "\n").count == 2, "\(result.errors)")
    }

    @Test("The version names the commit and the compiler")
    func version() throws {
        let result = try keel(["--version"])
        #expect(result.code == 0)
        let form = /^\d+\.\d+\.\d+ \(.+\), Swift \d+\.\d+.*\n$/
        #expect(result.output.contains(form), "\(result.output)")
    }

    @Test("Documents come from standard input and go to standard output")
    func pipes() throws {
        let store = ["--storage", scratch.file("s.sqlite").path]
        let lines = (1...2000).map { "{\"id\":\"\($0 + 10_000)\",\"number\":\($0)}\n" }.joined()
        let arguments = ["documents", "import", "-", "c", "--id", "id"] + store
        let imported = try KeelProcess(arguments, input: lines).wait()
        #expect(imported.output == "2000 documents imported\n", "\(imported.errors)")
        let exported = try keel(["documents", "export", "c", "--plain", "-o", "-"] + store)
        #expect(exported.output == lines)
        #expect(exported.errors == "")
        #expect(try KeelProcess(arguments + ["--resume"], input: lines).wait().code == 64)
    }
}
#endif
