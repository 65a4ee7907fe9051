import Foundation

/// The steps in which A's choices reach the service: immediately, or once it is available again.
///
/// The service itself reports how often it has applied a write.
extension Demonstration {
    /// The restaurant that is chosen while the service is unavailable.
    private var second: Setting.Known {
        setting.restaurants.first { $0.id != chosen.id } ?? chosen
    }

    /// The restaurant that is chosen while the service is unavailable, and that it no longer knows afterwards.
    private var closed: Setting.Known {
        setting.restaurants.last { $0.id != chosen.id && $0.id != second.id } ?? chosen
    }

    private var nothing: String { "Nothing of ada waits for the service." }

    func checkArrival() async throws {
        try await expectOnce("PUT favourites \(chosen.id)")
        try await expectOnce("PUT ratings \(chosen.id)")
        try await waitForPending { $0 == nothing }
    }

    func chooseOffline() async throws {
        try await app(.a, "favourite", second.id)
        try await app(.a, "favourite", closed.id)
        let own = try await app(.a, "favourites").output
        try expect(
            Set(Output.ids(own)) == [chosen.id, second.id, closed.id],
            "they are favourites at once"
        )
        let pending = try await app(.a, "pending").output
        try expect(pending.last == "3 waiting, 0 refused, of ada.", "the rating waits with them")
        waiting = Output.ids(pending)
    }

    func killWaiting() async throws {
        let app = try startApp(.a, "ada", ["watch"])
        let line = try await app.line(within: .seconds(30), "the start of watching") {
            $0.hasPrefix("Watching for ada")
        }
        show([line], from: .a)
        app.kill()
        let outcome = try await app.outcome(within: .seconds(30))
        try expect(outcome.status == SIGKILL, "A was killed")
        note("kill -9 of process \(app.identifier)")
        let pending = try await self.app(.b, "pending").output
        try expect(Output.ids(pending) == waiting, "B, on the same file, finds all that waited")
    }

    func restartService() async throws {
        let data = setting.folder.appending(path: "fewer.jsonl")
        try setting.writeData(without: closed.id, to: data)
        try await startService(data)
        note("it has forgotten all sessions, and no longer has \(closed.name)")
        let pending = try await app(.b, "pending").output
        try expect(Output.ids(pending) == waiting, "all of it still waits")
        try expect(
            api?.said.contains { $0.hasPrefix("ada: ") } == false,
            "the service accepts no write without a user"
        )
    }

    func arrive() async throws {
        try await app(.a, as: nil, "login", "ada@example.com", password: "engine")
        let watcher = try startApp(.b, "ada", ["watch"])
        try await expectOnce("PUT ratings \(chosen.id)")
        try await expectOnce("PUT favourites \(second.id)")
        try await waitForPending { $0 == "0 waiting, 1 refused, of ada." }
        await watcher.stop()
    }

    func dropRefused() async throws {
        let pending = try await app(.a, "pending").output
        try expect(
            pending.contains { $0.contains(closed.name.prefix(8)) && $0.contains("status 404") },
            "the refused favourite is shown, with the reason"
        )
        guard let id = Output.ids(pending).first else { throw DemoFailure("there is no id") }
        let after = try await app(.a, "pending", "--discard", id).output
        try expect(after == [nothing], "nothing waits any more")
        try expect(
            api?.said.contains { $0.hasPrefix("ada: PUT favourites \(closed.id): applied") }
                == false,
            "the service has not applied it"
        )
    }

    // MARK: What the service says

    /// Waits until the service has received a write twice, because the first response was lost, and has applied it
    /// once.
    private func expectOnce(_ write: String) async throws {
        guard let api else { throw DemoFailure("there is no service") }
        let name = "ada: \(write): "
        _ = try await api.line(within: .seconds(30), "a repetition of \(write)") {
            $0 == "\(name)not applied again: it has a known key"
        }
        let lines = api.said.filter { $0.hasPrefix(name) }
        for line in lines { Terminal.show("  \(Terminal.faint("service │")) \(line)") }
        try expect(
            lines.first == "\(name)applied, but the answer is lost",
            "the service took it and the answer was lost"
        )
        try expect(
            lines.filter { $0.hasPrefix("\(name)applied") }.count == 1,
            "the service has applied it once"
        )
    }

    /// Waits until the list of pending changes ends with a line: the service may have a write before the app knows.
    private func waitForPending(_ isWanted: (String) -> Bool) async throws {
        let begin = ContinuousClock.now
        while begin.duration(to: .now) < .seconds(20) {
            let words = ["pending", "--user", "ada", "--storage", store, "--api", address]
            let outcome = try await start("restaurants", words).outcome(within: .seconds(60))
            if let last = outcome.output.last, isWanted(last) { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        let last = try await app(.a, "pending").output.last ?? ""
        try expect(isWanted(last), "all has arrived that the service takes")
    }
}
