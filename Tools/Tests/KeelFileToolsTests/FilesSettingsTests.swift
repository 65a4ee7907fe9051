#if os(Linux) || os(macOS)
import Foundation
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite(
    "Settings and standard streams of keel files",
    .enabled(if: MotoServer.isPresent, MotoServer.absence),
    .timeLimit(.minutes(10))
)
struct FilesSettingsTests: MotoTests {
    let moto: MotoFolder

    init() throws { moto = try MotoFolder() }

    private func keel(
        _ arguments: String...,
        input: String? = nil,
        environment: [String: String] = [:]
    ) throws -> (code: Int32, output: String, errors: String) {
        try KeelProcess(
            arguments,
            input: input,
            environment: server.environment(scratch.file("cache"))
                .merging(["XDG_CONFIG_HOME": scratch.file("config").path]) { $1 }
                .merging(environment) { $1 },
            in: scratch.folder
        ).wait()
    }

    @Test("The endpoint and a profile’s provider come from keel.toml")
    func settings() throws {
        _ = try scratch.file(
            "keel.toml",
            holding: """
                [files]
                endpoint = "\(server.endpoint)"
                part-size = 6
                limit-rate = "100M"
                [profile.minio.files]
                provider = "minio"
                path-style = true
                [profile.none.files]
                endpoint = "http://127.0.0.1:9"
                """
        )
        let bare = ["AWS_ENDPOINT_URL": ""]
        let file = try scratch.file("a.txt", holding: "hello").path
        #expect(try keel("files", "put", file, "\(root)/a", environment: bare).code == 0)
        let minio = try keel("--profile", "minio", "files", "cat", "\(root)/a", environment: bare)
        #expect(minio.output == "hello", "\(minio.errors)")
        #expect(try keel("--profile", "none", "files", "cat", "\(root)/a").code == 1)
        let shown = try keel("--profile", "minio", "config", "show", "files").output
        #expect(shown.contains("files.provider = minio  # "), "\(shown)")
        #expect(shown.contains("files.path-style = true  # "), "\(shown)")
        let variable = ["KEEL_ENDPOINT": "http://127.0.0.1:9"]
        #expect(try keel("files", "cat", "\(root)/a", environment: variable).code == 1)
    }

    @Test("What is encrypted in a pipe is kept, and decrypted in another one")
    func pipeline() throws {
        let made = try keel("keyset", "generate", "key")
        let recipient = made.output.trimmingCharacters(in: .newlines)
        _ = try scratch.file(
            "keel.toml",
            holding: "[encrypt]\nrecipient = \"\(recipient)\"\n[decrypt]\nidentity = \"key\"\n"
        )
        let place = root.replacing("s3://", with: "s3:") + "/dump"
        let script = """
            printf 'some rows' | "$keel" encrypt | "$keel" files put - \(place) -q &&
            "$keel" files cat \(place) | "$keel" decrypt
            """
        let result = try KeelProcess(
            shell: script,
            environment: server.environment(scratch.file("cache")),
            in: scratch.folder
        ).wait()
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.hasSuffix("some rows"), "\(result.output)")
        #expect(!result.output.contains("keelpub1") && result.errors.isEmpty, "\(result.errors)")
    }

    @Test("A copy streams standard input and output")
    func streams() throws {
        let put = try keel("files", "copy", "-", "\(root)/a", input: "hello")
        #expect(put.output == "\(root)/a: 5 bytes\n", "\(put.errors)")
        #expect(try keel("files", "copy", "\(root)/a", "-").output == "hello")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("-").path))
        _ = try scratch.file("-", holding: "named -")
        #expect(try keel("files", "copy", "./-", "\(root)/b").code == 0)
        #expect(try keel("files", "cat", "\(root)/b").output == "named -")
    }

    @Test("A pipe instead of a file is refused with advice, and stays")
    func specialFiles() throws {
        let pipe = try scratch.pipe("pipe")
        let file = try scratch.file("a.txt", holding: "hello").path
        #expect(try keel("files", "put", file, "\(root)/a").code == 0)
        let put = try keel("files", "put", pipe.path, "\(root)/b")
        #expect(put.code == 1 && put.errors.contains("to standard input: < \(pipe.path)"))
        let get = try keel("files", "get", "\(root)/a", pipe.path)
        #expect(get.code == 1 && get.errors.contains("standard output: > \(pipe.path)"))
        #expect(scratch.isPipe(pipe))
    }

    @Test(
        "A name in advice is one word for a shell",
        arguments: ["a/b-1.txt", "s3://b/k=1", "ü", "a b", "it's", "$HOME", "*", "a\nb", ""]
    )
    func words(text: String) throws {
        let word = text.shellWord
        #expect(try KeelProcess(shell: "printf %s \(word)").wait().output == text)
        #expect((word == text) == ["a/b-1.txt", "s3://b/k=1", "ü"].contains(text))
    }

    @Test("What cannot be a standard stream is refused with advice")
    func refusals() throws {
        _ = try scratch.file("-", holding: "named -")
        for (arguments, advice) in [
            (["move", "-", "\(root)/a"], "type keel files put - \(root)/a"),
            (["move", "\(root)/a", "-"], "type keel files get \(root)/a -"),
            (["move", "-", "\(root)/a b"], "type keel files put - '\(root)/a b'"),
            (["sync", "-", root], "type a path"), (["sync", root, "-"], "type a path"),
            (["copy", "-", "\(root)/"], "Standard input has no name"),
            (["copy", "-r", root, "-"], "Only one file"),
        ] {
            let result = try KeelProcess(["files"] + arguments, in: scratch.folder).wait()
            #expect(result.code == 64)
            #expect(result.errors.contains(advice), "\(result.errors)")
        }
        #expect(FileManager.default.fileExists(atPath: scratch.file("-").path))
    }
}
#endif
