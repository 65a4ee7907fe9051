#if os(Linux) || os(macOS)
import Foundation
import KeelToolsTestSupport
import Testing

@Suite("keel lint")
struct LintCommandTests {
    /// Runs the command with a script in the place of the linter, on the PATH or next to the command.
    private func lint(
        _ arguments: [String] = [],
        by script: String? = nil,
        isBeside: Bool = false
    ) throws -> (code: Int32, output: String, errors: String) {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        // A copy, because the built linter may be next to the built command.
        let folder = scratch.file("bin")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let program = folder.appending(path: "keel")
        try FileManager.default.copyItem(at: try KeelProcess.program(), to: program)
        if let script {
            let linter = try scratch.file(
                isBeside ? "bin/keel-lint" : "keel-lint",
                holding: "#!/bin/sh\n\(script)\n"
            )
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755],
                ofItemAtPath: linter.path
            )
        }
        return try KeelProcess(
            ["lint"] + arguments,
            environment: ["PATH": scratch.folder.path],
            program: program
        ).wait()
    }

    @Test(
        "The linter gets the arguments unchanged, and its exit code is the command's",
        arguments: [false, true]
    )
    func forwards(isBeside: Bool) throws {
        let end = try lint(
            ["My App", "--strict", "--format", "sarif", "--help"],
            by: #"for word in "$@"; do echo "<$word>"; done; exit 2"#,
            isBeside: isBeside
        )
        #expect(end.code == 2)
        #expect(end.output == "<My App>\n<--strict>\n<--format>\n<sarif>\n<--help>\n")
    }

    @Test("The linter receives signals")
    func signals() throws {
        let end = try lint(by: "trap 'exit 9' TERM; kill -TERM $$; exit 3")
        #expect(end.code == 9, "\(end.errors)")
    }

    @Test("Without a linter the command explains how to get one and exits with 69")
    func missing() throws {
        let end = try lint()
        #expect(end.code == 69)
        #expect(end.errors.contains("swift build --package-path Lint"))
    }
}
#endif
