#if os(Linux) || os(macOS)
import Foundation
import KeelToolsTestSupport
import Testing

@Suite("keel lint")
struct LintCommandTests {
    @Test("The linter gets the arguments unchanged, and its exit code is the command's")
    func forwards() throws {
        let scratch = try Scratch()
        let program = try scratch.file(
            "keel-lint",
            holding: "#!/bin/sh\nfor word in \"$@\"; do echo \"<$word>\"; done\nexit 2\n"
        )
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: program.path
        )
        let process = try KeelProcess(
            ["lint", "My App", "--strict", "--format", "sarif", "--help"],
            environment: ["PATH": "\(scratch.folder.path):/usr/bin:/bin"]
        )
        let end = process.wait()
        #expect(end.code == 2)
        #expect(end.output == "<My App>\n<--strict>\n<--format>\n<sarif>\n<--help>\n")
    }

    @Test("Without a linter the command explains how to get one and exits with 69")
    func missing() throws {
        let end = try KeelProcess(["lint"], environment: ["PATH": "/nowhere"]).wait()
        #expect(end.code == 69)
        #expect(end.errors.contains("swift build --package-path Lint"))
    }
}
#endif
