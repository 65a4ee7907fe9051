import Foundation

struct ProgramOutput: Sendable {
    var status: Int32
    var text: String
    var errors: String
}

/// Runs a program until it exits.
func run(_ program: String, _ arguments: [String], in folder: String? = nil) throws -> ProgramOutput
{
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
    // Files, because a full pipe would block the program.
    let folder = FileManager.default.temporaryDirectory.appending(
        path: "keel-lint-\(UUID().uuidString)"
    )
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = [folder.appending(path: "out"), folder.appending(path: "err")]
    for file in files { try Data().write(to: file) }
    process.standardOutput = try FileHandle(forWritingTo: files[0])
    process.standardError = try FileHandle(forWritingTo: files[1])
    try process.run()
    process.waitUntilExit()
    return ProgramOutput(
        status: process.terminationStatus,
        text: try String(contentsOf: files[0], encoding: .utf8),
        errors: try String(contentsOf: files[1], encoding: .utf8)
    )
}

/// The Python that Scripts/test.sh prepares.
enum Python {
    static let program = ProcessInfo.processInfo.environment["KEEL_PYTHON"]

    static let hasSARIF: Bool = (try? run("import sarif_pydantic", []))?.status == 0

    static func run(_ script: String, _ arguments: [String]) throws -> ProgramOutput {
        guard let program else { return ProgramOutput(status: 1, text: "", errors: "no Python") }
        return try KeelLintTests.run(program, ["-c", script] + arguments)
    }
}

/// The executable next to the tests.
enum LintProgram {
    static var path: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent().appending(path: "keel-lint").path
    }

    static func run(_ arguments: [String], in folder: String) throws -> ProgramOutput {
        try KeelLintTests.run(path, arguments, in: folder)
    }
}
