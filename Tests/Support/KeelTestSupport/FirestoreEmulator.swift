#if os(Linux) || os(macOS)
internal import Foundation

/// Google's Firestore emulator, in a separate process on a free port of 127.0.0.1.
///
/// It is part of the package `google-cloud-cli-firestore-emulator` and needs Java. The environment variable
/// `KEEL_FIRESTORE_EMULATOR` names its program, `cloud_firestore_emulator`; without it, the program is looked for on
/// the path and where the packages put it.
package struct FirestoreEmulator: Sendable {
    package static var isInstalled: Bool { archive != nil && java != nil }

    package static let absence = """
        NOT RUN: Google\u{2019}s Firestore emulator (google-cloud-cli-firestore-emulator; \
        KEEL_FIRESTORE_EMULATOR names its program) or java is not installed
        """

    /// The Java archive, which lies beside the program.
    ///
    /// The program is a script that starts Java as a child, which would survive if the script were killed.
    private static let archive: String? = {
        let name = "cloud_firestore_emulator"
        let packages = [
            "/usr/lib/google-cloud-sdk", "/opt/google-cloud-sdk",
            "/opt/homebrew/share/google-cloud-sdk",
        ]
        let given = ProcessInfo.processInfo.environment["KEEL_FIRESTORE_EMULATOR"]
        let programs =
            given.map { [$0] } ?? folders.map { "\($0)/\(name)" }
            + packages.map { "\($0)/platform/cloud-firestore-emulator/\(name)" }
        return programs.lazy
            .map { program in
                URL(filePath: program).resolvingSymlinksInPath().deletingLastPathComponent()
                    .appending(path: "cloud-firestore-emulator.jar").path
            }
            .first { FileManager.default.fileExists(atPath: $0) }
    }()

    private static let java = (folders + ["/opt/homebrew/bin"])
        .map { "\($0)/java" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private static var folders: [String] {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    }

    /// The host and port, as in `FIRESTORE_EMULATOR_HOST`.
    package let host: String
    private let process: PeerProcess

    /// Starts the emulator with an empty store.
    ///
    /// - Throws: `PeerProcess.NotStarted` if it is not installed or ends at once.
    package init() async throws {
        guard let archive = Self.archive, let java = Self.java else {
            throw PeerProcess.NotStarted(program: "cloud_firestore_emulator")
        }
        let port = try PeerProcess.freePort()
        host = "127.0.0.1:\(port)"
        process = try await PeerProcess(
            java,
            [
                // Its error messages exist in English only.
                "-Duser.language=en", "-Xmx512m", "-cp", archive,
                "com.google.cloud.datastore.emulator.firestore.CloudFirestore",
                "--host=127.0.0.1", "--port=\(port)",
            ],
            port: port
        )
    }

    /// Ends the process.
    package func stop() async { await process.kill() }
}
#endif
