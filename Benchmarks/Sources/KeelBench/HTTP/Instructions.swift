import Foundation

extension HTTPGroup {
    /// Counts instructions with callgrind: repeatable, whatever else the machine does.
    ///
    /// Each side runs alone in a process under valgrind, with few and with many requests; the
    /// difference is what the requests cost, without start and end.
    static func instructions(_ options: Options) -> Measure {
        Measure(
            name: "small GET, instructions / AsyncHTTPClient",
            unit: "k",
            target: .atMost(1.12),
            keel: { try await perRequest("keel", options) },
            peer: { try await perRequest("peer", options) },
            mostRounds: 1
        )
    }

    @concurrent
    private static func perRequest(_ side: String, _ options: Options) async throws -> Double {
        let server = try ServerProcess()
        let (few, many) = options.isQuick ? (5, 10) : (100, 500)
        let start = try instructions(side, few, server)
        let end = try instructions(side, many, server)
        return (end - start) / Double(many - few) / 1000
    }

    /// Runs this program under callgrind and returns what it has counted.
    private static func instructions(
        _ side: String,
        _ count: Int,
        _ server: ServerProcess
    ) throws -> Double {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
            CommandLine.arguments[0], "--requests", side, "\(count)", "\(server.port)",
        ]
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard let line = text.split(separator: "\n").last(where: { $0.contains("Collected :") }),
            let figure = line.split(separator: " ").last.flatMap({ Double($0) })
        else { throw Flaw("callgrind did not count; is valgrind installed? It said: \(text)") }
        return figure
    }

    /// What the process under callgrind does.
    @concurrent
    static func requests(_ side: String, _ count: Int, port: Int) async throws {
        let pair = try HTTPPair(ServerProcess(port: port))
        for _ in 0..<count {
            if side == "keel" { try await pair.keelGet() } else { try await pair.peerGet() }
        }
    }
}
