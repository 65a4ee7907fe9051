import Foundation

/// Measures with Google's client for Python, over gRPC.
extension ListenGroup {
    /// The servers of these measures, each started on its first use.
    struct CalledServers: Sendable {
        let memory = Lazily { try await FirestoreServer.keel("memory") }
        let file: Lazily<FirestoreServer>
        let emulator = Lazily { try await FirestoreServer.emulator() }

        init(in folder: WorkFolder) {
            file = Lazily { try await .keel("sqlite:\(folder.path("set.sqlite"))") }
        }
    }

    private static func servers(_ stage: Stage, _ options: Options) async throws -> CalledServers {
        // Before servers are started in vain.
        try python.interpreter()
        return try await stage.content("Google’s client") {
            CalledServers(in: try WorkFolder("listen", in: options.folder))
        }
    }

    /// Measures `set`, one by one.
    static func set(
        _ storage: String,
        _ stage: Stage,
        _ options: Options,
        _ keel: @escaping @Sendable (CalledServers) -> Lazily<FirestoreServer>
    ) -> Measure {
        let count = options.isQuick ? 10 : 500
        @Sendable @concurrent
        func time(_ server: Lazily<FirestoreServer>) async throws -> Double {
            try await python.number(["set", "127.0.0.1:\(server.value().port)", "\(count)"])
        }
        return Measure(
            name: "set by Google’s client, \(storage) / emulator",
            target: .atLeast(2),
            keel: { try await time(keel(try await servers(stage, options))) },
            peer: { try await time(servers(stage, options).emulator) }
        )
    }

    /// Measures the bytes of a stream's messages, with the five bytes in front of each.
    static func bytesOverGRPC(
        _ action: String,
        _ name: String,
        atMost limit: Double,
        _ stage: Stage,
        _ options: Options
    ) -> Measure {
        @Sendable @concurrent
        func bytes(_ server: Lazily<FirestoreServer>) async throws -> Double {
            try await python.number([action, "127.0.0.1:\(server.value().port)", "5"])
        }
        return Measure(
            name: "\(name), over gRPC / emulator",
            unit: "B",
            target: .keelAtMost(limit),
            maximumRounds: 1,
            keel: { try await bytes(servers(stage, options).memory) },
            peer: { try await ifInstalled { try await bytes(servers(stage, options).emulator) } }
        )
    }

    /// The script with the client.
    private static let python = PythonScript(
        "firestore-client.py",
        with: "the package 'google-cloud-firestore'"
    )
}
