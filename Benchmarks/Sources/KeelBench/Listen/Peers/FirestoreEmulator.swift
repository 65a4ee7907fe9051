import Foundation

/// Google's Firestore emulator, of the package `google-cloud-cli-firestore-emulator`, which needs Java.
///
/// The environment variable `KEEL_FIRESTORE_EMULATOR` names its program, `cloud_firestore_emulator`; without it, the
/// program is looked for on the path and where the packages put it.
enum FirestoreEmulator {
    static var isInstalled: Bool { (try? (archive(), java())) != nil }

    /// Returns the Java archive, which lies beside the program.
    ///
    /// The program is a script that starts Java as a child, which would survive if the script were killed.
    static func archive() throws -> String {
        let name = "cloud_firestore_emulator"
        let packages = [
            "/usr/lib/google-cloud-sdk", "/opt/google-cloud-sdk",
            "/opt/homebrew/share/google-cloud-sdk",
        ]
        let given = ProcessInfo.processInfo.environment["KEEL_FIRESTORE_EMULATOR"]
        let programs =
            given.map { [$0] } ?? folders.map { "\($0)/\(name)" }
            + packages.map { "\($0)/platform/cloud-firestore-emulator/\(name)" }
        let archives = programs.lazy.map { program in
            URL(filePath: program).resolvingSymlinksInPath().deletingLastPathComponent()
                .appending(path: "cloud-firestore-emulator.jar").path
        }
        let archive = archives.first { FileManager.default.fileExists(atPath: $0) }
        guard let archive else {
            throw NotRun(
                "Google’s emulator (google-cloud-cli-firestore-emulator) is not installed; "
                    + "KEEL_FIRESTORE_EMULATOR names its program"
            )
        }
        return archive
    }

    static func java() throws -> String {
        let java = (folders + ["/opt/homebrew/bin"]).map { "\($0)/java" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let java else { throw NotRun("java, which Google’s emulator needs, is missing") }
        return java
    }

    /// Returns what the emulator's own script passes to Java.
    static func arguments(archive: String, port: Int) -> [String] {
        [
            "-Duser.language=en", "-cp", archive,
            "com.google.cloud.datastore.emulator.firestore.CloudFirestore",
            "--host=127.0.0.1", "--port=\(port)",
        ]
    }

    private static var folders: [String] {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    }
}
