import Foundation

/// The steps about usage data: first on the device, then on the server.
extension Demonstration {
    private var telemetry: [String] {
        let folder = setting.folder.appending(path: "telemetry").path(percentEncoded: false)
        return ["--telemetry", folder, "--usage-server", store]
    }

    func noteUsage() async throws {
        try await noted("list", "--limit", "2")
        try await noted("search", chosen.name)
        try await noted("show", chosen.id)
        try await expectUsage("3 noted = 0 delivered + 3 waiting + 0 dropped. Nothing is lost.")
        try await expectServed(0)
        let log = setting.folder.appending(path: "telemetry/restaurants.log")
        let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
        try expect(!lines.isEmpty, "the log has lines")
        note("the log has \(lines.count) lines, such as \(lines[0].prefix(110))")
    }

    func sendUsage() async throws {
        let watcher = try startApp(.a, "ada", ["watch"] + telemetry)
        _ = try await watcher.line(within: .seconds(30), "the start of watching") {
            $0.hasPrefix("Watching for ada")
        }
        watcher.kill()
        _ = try await watcher.outcome(within: .seconds(30))
        note("kill -9 of process \(watcher.identifier), which had noted that it watches")
        try await expectUsage("4 noted = 0 delivered + 4 waiting + 0 dropped. Nothing is lost.")
        try await app(.a, ["consent", "yes"] + telemetry)
        try await noted("favourites")
        try await expectUsage("5 noted = 5 delivered + 0 waiting + 0 dropped. Nothing is lost.")
        try await expectServed(5)
    }

    private func noted(_ words: String...) async throws { try await app(.a, words + telemetry) }

    private func expectUsage(_ line: String) async throws {
        let said = try await app(.a, ["usage"] + telemetry).output.last ?? ""
        try expect(said == line, line)
    }

    /// Reads the documents from the server's store.
    private func expectServed(_ count: Int) async throws {
        let words = ["documents", "query", "analytics", "--storage", store, "--count"]
        let outcome = try await start("keel", words).outcome(within: .seconds(60))
        for line in outcome.output {
            Terminal.show("  \(Terminal.faint("keel documents │")) \(line)")
        }
        try expect(
            outcome.output.contains { $0.split(separator: " ").contains("\(count)") },
            "the server has \(count) records"
        )
    }
}
