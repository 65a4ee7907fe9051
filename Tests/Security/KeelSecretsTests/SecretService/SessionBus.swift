#if os(Linux)
import Foundation
import Glibc
import KeelTestSupport
import Synchronization
import Testing

/// A private session bus with its own keyring and home folder, for the duration of a test.
///
/// The bus activates no services: only the processes started here run, and they are stopped here.
final class SessionBus: Sendable {
    static let programs = ["dbus-daemon", "dbus-send", "gnome-keyring-daemon", "secret-tool"]

    /// The required programs that are not installed.
    static let missing = programs.filter { path($0) == nil }

    private let folder: TemporaryFolder
    private let running = Mutex<[Process]>([])
    let address: String

    /// Starts a bus.
    init() async throws {
        folder = try TemporaryFolder()
        address = "unix:path=\(folder.path)/bus"
        for name in ["run", "data"] {
            try FileManager.default.createDirectory(
                atPath: folder.path + "/" + name,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        }
        let configuration = """
            <busconfig>
              <type>session</type>
              <listen>\(address)</listen>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """
        let file = folder.path + "/bus.conf"
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: file))
        let output = Pipe()
        try start(
            "dbus-daemon",
            ["--config-file=\(file)", "--nofork", "--print-address"],
            output: output
        )
        // The bus prints its address once it listens.
        _ = output.fileHandleForReading.availableData
    }

    deinit { stop() }

    /// Stops the keyring and the bus in reverse order, and removes their files.
    func stop() {
        let processes = running.withLock { running in
            defer { running = [] }
            return running
        }
        for process in processes.reversed() { end(process) }
        try? FileManager.default.removeItem(atPath: folder.path)
    }

    /// Ends a process with SIGKILL instead of SIGTERM, because a child inherits the signal mask of its parent's thread.
    private func end(_ process: Process) {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Starts a keyring, and returns when it owns its name on the bus.
    func startKeyring(unlocked: Bool) async throws {
        let input = Pipe()
        var arguments = ["--foreground", "--components=secrets"]
        if unlocked { arguments.append("--unlock") }
        try start("gnome-keyring-daemon", arguments, input: input)
        if unlocked { input.fileHandleForWriting.write(Data("password".utf8)) }
        try input.fileHandleForWriting.close()
        try await waitForService(true)
    }

    /// Stops the keyring, which forgets the password.
    func stopKeyring() async throws {
        if let keyring = running.withLock({ $0.popLast() }) { end(keyring) }
        try await waitForService(false)
    }

    /// Polls the bus until the name of the Secret Service has an owner, or no longer has one.
    private func waitForService(_ isThere: Bool) async throws {
        for _ in 0..<10_000 {
            let answer = try await run(
                "dbus-send",
                [
                    "--bus=\(address)", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                    "org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.secrets",
                ]
            )
            if answer.text.contains("boolean \(isThere)") { return }
        }
        throw CocoaError(.featureUnsupported)
    }

    /// Runs a program in the session until it exits.
    func run(
        _ program: String,
        _ arguments: [String],
        input text: String? = nil,
        hasBus: Bool = true
    ) async throws -> (text: String, status: Int32) {
        let output = Pipe()
        let input = Pipe()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.path(program) ?? program)
        process.arguments = arguments
        process.environment = environment(hasBus: hasBus)
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = input
        try process.run()
        if let text { input.fileHandleForWriting.write(Data(text.utf8)) }
        try input.fileHandleForWriting.close()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (String(decoding: data, as: UTF8.self), process.terminationStatus)
    }

    private func start(
        _ program: String,
        _ arguments: [String],
        input: Pipe? = nil,
        output: Pipe? = nil
    ) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Self.path(program)))
        process.arguments = arguments
        process.environment = environment(hasBus: true)
        process.standardInput = input ?? FileHandle.nullDevice
        process.standardOutput = output ?? FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        running.withLock { $0.append(process) }
    }

    private func environment(hasBus: Bool) -> [String: String] {
        var variables = [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder.path,
            "XDG_DATA_HOME": folder.path + "/data", "XDG_RUNTIME_DIR": folder.path + "/run",
        ]
        if hasBus { variables["DBUS_SESSION_BUS_ADDRESS"] = address }
        return variables
    }

    private static func path(_ program: String) -> String? {
        ["/usr/local/bin/", "/usr/bin/", "/bin/"].map { $0 + program }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
#endif
