import Foundation

/// `keel serve`, compared with Google's Firestore emulator: listeners, streams that resume, Google's client, the start.
///
/// Documentation/Benchmarks.md has the targets.
enum ListenGroup {
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        let stage = Stage()
        return [
            heard(.one(options), stage, options, .atLeast(25)),
            bytes(stage, options),
            resumptionBytes(stage, options),
            heard(.many(options), stage, options, .atLeast(100)),
            resumption(changes: false, stage, options),
            resumption(changes: true, stage, options),
            idleStreams(options),
            equalityTargets(stage, options),
            set("memory", stage, options) { $0.memory },
            set("SQLite", stage, options) { $0.file },
            bytesOverGRPC("change", "bytes a commit", atMost: 400, stage, options),
            bytesOverGRPC("resume", "bytes to resume", atMost: 200, stage, options),
            start(),
            memoryAfterStart(),
        ]
    }

    // MARK: Commits

    /// A listening client of each side.
    struct Listening: Sendable {
        let name: String
        let shape: ListeningClient.Shape
        /// The number of targets on the emulator.
        ///
        /// With 100 targets of 100 documents it sends nothing for minutes.
        let peerTargets: Int
        /// The commits of a round to the emulator, which is told of each much later.
        let peerCommits: Int

        static func one(_ options: Options) -> Listening {
            Listening(
                name: "1 target of 1,000",
                shape: .init(targets: 1, documentsPerTarget: options.isQuick ? 100 : 1_000),
                peerTargets: 1,
                peerCommits: options.isQuick ? 1 : 10
            )
        }

        static func many(_ options: Options) -> Listening {
            Listening(
                name: "100 targets of 100",
                shape: .init(
                    targets: options.isQuick ? 5 : 100,
                    documentsPerTarget: options.isQuick ? 10 : 100
                ),
                peerTargets: options.isQuick ? 1 : 10,
                peerCommits: options.isQuick ? 1 : 3
            )
        }

        func sides(_ stage: Stage) async throws -> Sides<ListeningClient> {
            try await stage.content(name) { [shape, peerTargets] in
                Sides { server, isKeel in
                    var shape = shape
                    if !isKeel { shape.targets = peerTargets }
                    return try await ListeningClient(server, shape)
                }
            }
        }
    }

    /// Measures the time from a commit to the snapshot of a listener.
    private static func heard(
        _ listening: Listening,
        _ stage: Stage,
        _ options: Options,
        _ target: Target
    ) -> Measure {
        Measure(
            name: "commit heard, \(listening.name) / emulator",
            target: target,
            keel: {
                try await listening.sides(stage).content(isKeel: true)
                    .times(of: options.scaled(200)).median
            },
            peer: {
                try await listening.sides(stage).content(isKeel: false)
                    .times(of: listening.peerCommits).median
            }
        )
    }

    /// Measures the bytes that a commit costs a listener.
    private static func bytes(_ stage: Stage, _ options: Options) -> Measure {
        let listening = Listening.one(options)
        return Measure(
            name: "bytes a commit, \(listening.name) / emulator",
            unit: "B",
            target: .keelAtMost(400),
            maximumRounds: 3,
            keel: { try await listening.sides(stage).content(isKeel: true).bytes(of: 10) },
            peer: {
                try await ifInstalled {
                    try await listening.sides(stage).content(isKeel: false).bytes(of: 3)
                }
            }
        )
    }

    /// Returns no figure if the emulator is not installed, for rows that say something without it.
    static func ifInstalled(_ peer: Measure.Side) async throws -> Double {
        FirestoreEmulator.isInstalled ? try await peer() : .nan
    }

    // MARK: The start

    private static func start() -> Measure {
        Measure(
            name: "start / emulator",
            unit: "ms",
            target: .atMost(0.1),
            keel: { try await FirestoreServer.keel("memory").startTime },
            peer: { try await FirestoreServer.emulator().startTime }
        )
    }

    private static func memoryAfterStart() -> Measure {
        Measure(
            name: "memory after the start / emulator",
            unit: "MiB",
            target: .atMost(0.2),
            maximumRounds: 5,
            keel: { try await FirestoreServer.keel("memory").residentMemory() },
            peer: { try await FirestoreServer.emulator().residentMemory() }
        )
    }
}
