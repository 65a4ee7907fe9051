import Foundation

/// Measures with Google's client for Python, over gRPC.
extension ListenGroup {
    /// Measures `set`, one by one.
    static func set(_ storage: String, _ stage: Stage, _ options: Options) -> Measure {
        let count = options.isQuick ? 10 : 500
        @Sendable @concurrent
        func time(isKeel: Bool) async throws -> Double {
            // Before servers are started in vain.
            _ = try python()
            let sides = try await stage.content("set, \(storage)") {
                let folder = try WorkFolder("listen", in: options.folder)
                return Sides<FirestoreServer>(
                    keel: {
                        let file = "sqlite:\(folder.path("set.sqlite"))"
                        return try await .keel(storage == "memory" ? storage : file)
                    },
                    { $0 }
                )
            }
            let server = try await sides.content(isKeel: isKeel)
            return try await number(["set", "127.0.0.1:\(server.port)", "\(count)"])
        }
        return Measure(
            name: "set by Google’s client, \(storage) / emulator",
            unit: "µs",
            target: .atLeast(2),
            keel: { try await time(isKeel: true) },
            peer: { try await time(isKeel: false) }
        )
    }

    /// Measures the bytes of a stream's messages, with the five bytes in front of each.
    static func bytesOverGRPC(
        _ action: String,
        _ name: String,
        atMost limit: Double,
        _ stage: Stage
    ) -> Measure {
        @Sendable @concurrent
        func bytes(isKeel: Bool) async throws -> Double {
            _ = try python()
            let sides = try await stage.content("gRPC") { Sides<FirestoreServer> { $0 } }
            let server = try await sides.content(isKeel: isKeel)
            return try await number([action, "127.0.0.1:\(server.port)", "5"])
        }
        return Measure(
            name: "\(name), over gRPC / emulator",
            unit: "B",
            target: .keelAtMost(limit),
            maximumRounds: 1,
            keel: { try await bytes(isKeel: true) },
            peer: { try await ifInstalled { try await bytes(isKeel: false) } }
        )
    }

    private static func python() throws -> String {
        guard let python = ProcessInfo.processInfo.environment["KEEL_PYTHON"] else {
            throw NotRun("KEEL_PYTHON names no Python with the package 'google-cloud-firestore'")
        }
        return python
    }

    /// Runs the client and returns the number that it prints.
    private static func number(_ arguments: [String]) async throws -> Double {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Peers/firestore-client.py").path
        let run = try await ProgramRun(try python(), [script] + arguments)
        guard !run.output.contains("ModuleNotFoundError") else {
            throw NotRun("\(try python()) lacks the package 'google-cloud-firestore'")
        }
        return try run.number()
    }
}
