import Foundation

extension Demonstration {
    /// The steps in order; the last one only where PostgreSQL is installed.
    var steps: [Step] {
        let last: [Step] =
            setting.postgreSQL == nil
            ? [] : [("The app moves to PostgreSQL while it writes", moveToPostgreSQL)]
        return [
            ("The service starts", startService),
            ("A signs in by e-mail", signIn),
            ("A’s tokens are sealed: no file of the app contains them", checkSecrets),
            ("A wrong password is refused, and nothing changes", refuseSignIn),
            ("A withdrawn token is renewed, unnoticed by the user", renew),
            ("B asks for a restaurant twice at once: one exchange, repeated", showTwice),
            ("A loads all restaurants, page by page, although the service is busy", refresh),
            ("A lists", list),
            ("B searches", search),
            ("A finds restaurants nearby", near),
            ("B watches what A does: a favourite", favourite),
            ("B watches what A does: a rating", rate),
            ("Favourites belong to one user", checkUsers),
            ("Loading again loses no favourite and no rating", refreshAgain),
            ("A’s choices are at the service, once, although responses were lost", checkArrival),
            ("The service goes away", stopService),
            ("A lists and B searches without it", readOffline),
            ("Loading without it fails, and says why", refreshOffline),
            ("Changes without it still appear live", rateOffline),
            ("Favourites and ratings wait for it", chooseOffline),
            ("A is killed while they wait, and none is lost", killWaiting),
            ("The service comes back, with fewer restaurants", restartService),
            ("A signs in again: each waiting change arrives once", arrive),
            ("A refused change is shown, and dropped", dropRefused),
            ("A signs out", signOut),
            ("keel serve starts: the same app, its documents on a server", startServer),
            ("A signs in, and loads all restaurants into it", refreshOnServer),
            ("B, on the same server, watches what A does", watchOnServer),
            ("The server is killed, and the app says so", killServer),
            ("It starts again: nothing is lost, and B still watches", restartServer),
            ("A’s actions are recorded here, and no event is sent without consent", noteUsage),
            ("With consent all of it arrives, once, also after a kill", sendUsage),
            ("The server ends when it is asked to", endServer),
        ] + last
    }

    var stepTitles: [String] { steps.map(\.title) }

    /// The chosen restaurant, whose name makes a good search.
    var chosen: Setting.Known {
        setting.restaurants.first { $0.name.split(separator: " ").count > 1 }
            ?? setting.restaurants[0]
    }

    private var borough: String { chosen.borough }

    // MARK: With the service

    func startService() async throws { try await startService(setting.data) }

    func startService(_ data: URL) async throws {
        let file = data.path(percentEncoded: false)
        let api = try start("restaurants-api", ["--data", file, "--port", "0", "--hiccups"])
        self.api = api
        let line = try await api.line(within: .seconds(30), "the address") {
            $0.hasPrefix("Serving ")
        }
        guard let url = line.split(separator: " ").last, url.hasPrefix("http://127.0.0.1:") else {
            throw DemoFailure("no address in “\(line)”")
        }
        address = String(url)
        note(line)
    }

    private func refresh() async throws {
        let outcome = try await app(.a, "refresh", "--log")
        let report = try Output.refresh(outcome.output)
        try expect(
            outcome.errors.contains {
                $0.contains("GET /restaurants?… retried after") && $0.hasSuffix("status 503")
            },
            "the log has a retry"
        )
        let others = setting.restaurants.count - 1
        try expect(report.added == others, "all restaurants but the one that B asked for are new")
        try expect(report.unchanged == 1, "that one is as it was")
    }

    private func list() async throws {
        let outcome = try await app(.a, "list", "--borough", borough, "--limit", "5")
        let ids = Output.ids(outcome.output)
        let known = setting.restaurants.filter { $0.borough == borough }
        // The app's order, computed from the data.
        let first = known.map { ($0.name.lowercased(), $0.id) }.sorted { $0 < $1 }.prefix(5)
        try expect(ids == first.map(\.1), "the first five of \(borough) by name")
        online.list = outcome.output
    }

    private func search() async throws {
        let outcome = try await app(.b, "search", chosen.name)
        try expect(Output.ids(outcome.output).contains(chosen.id), "\(chosen.name) is found")
        online.search = outcome.output
    }

    private func near() async throws {
        guard let first = setting.measured else { return note("no place is known in these data") }
        let outcome = try await app(.a, "near", "--at", setting.place, "--limit", "3")
        try expect(Output.ids(outcome.output).contains(first.id), "\(first.name) is there")
        try expect(outcome.output.dropFirst().first?.hasSuffix(" 0 m") == true, "the nearest first")
    }

    // MARK: Live

    private func favourite() async throws {
        let watcher = try startApp(.b, "ada", ["watch", "--for-events", "3"])
        self.watcher = watcher
        let began = try await watcher.line(within: .seconds(30), "the start of watching") {
            $0.hasPrefix("Watching for ada")
        }
        show([began], from: .b)
        let count = setting.restaurants.count
        try expect(
            began == "Watching for ada: \(count) restaurants, 0 favourites, 0 ratings.",
            "B sees \(count) restaurants"
        )
        try await app(.a, "favourite", chosen.id)
        try await expectLive { $0.contains("♥ ada likes") && $0.contains("(\(chosen.id))") }
    }

    private func rate() async throws {
        try await app(.a, "rate", chosen.id, "5")
        try await expectLive { $0.contains("★★★★★ ada rates") && $0.contains("(\(chosen.id))") }
    }

    /// Waits until B shows what A has just done.
    func expectLive(_ isWanted: (String) -> Bool) async throws {
        guard let watcher else { throw DemoFailure("nobody watches") }
        let start = ContinuousClock.now
        let line = try await watcher.line(within: .seconds(30), "the change", where: isWanted)
        show([line], from: .b)
        let time = Summary.text(start.duration(to: .now))
        note("B, another process, showed it \(time) after A’s command had ended")
    }

    // MARK: Users

    private func checkUsers() async throws {
        let own = try await app(.a, "favourites").output
        try expect(Output.ids(own) == [chosen.id], "ada has one favourite")
        try expect(own.contains { $0.contains("★★★★★") }, "ada’s rating is beside it")
        let others = try await app(.b, as: "bob", "favourites").output
        try expect(others == ["bob has no favourites yet."], "bob has none")
        let shown = try await app(.b, as: "bob", "show", chosen.id).output
        try expect(shown.contains("5.0 stars from 1 user"), "bob sees what all users think")
        try expect(!shown.contains { $0.contains("your") }, "bob sees no choice of ada’s as his")
    }

    private func refreshAgain() async throws {
        let report = try Output.refresh(try await app(.a, "refresh").output)
        try expect(report.unchanged == setting.restaurants.count, "all is as it was")
        let kept = try await app(.b, "favourites").output
        try expect(Output.ids(kept) == [chosen.id], "the favourite is still there")
        try expect(kept.contains { $0.contains("★★★★★") }, "the rating is still there")
    }

    // MARK: Without the service

    private func stopService() async throws {
        guard let api else { throw DemoFailure("there is no service") }
        await api.stop()
        _ = try await api.outcome(within: .seconds(30))
        note("process \(api.identifier) has ended")
    }

    private func readOffline() async throws {
        let list = try await app(.a, "list", "--borough", borough, "--limit", "5").output
        try expect(list == online.list, "the same list as before")
        let found = try await app(.b, "search", chosen.name).output
        try expect(found == online.search, "the same finds as before")
    }

    private func refreshOffline() async throws {
        let outcome = try await app(.a, "refresh", status: 1)
        let first = outcome.errors.first ?? ""
        try expect(first.contains("(sourceUnreachable)"), "an error of the app’s own kind")
        try expect(
            outcome.errors.contains { $0.contains("cause:") && $0.contains("noConnection") },
            "the cause, from the network, is kept"
        )
    }

    private func rateOffline() async throws {
        try await app(.a, "rate", chosen.id, "4")
        try await expectLive { $0.contains("★★★★☆ ada rates") && $0.contains("(\(chosen.id))") }
        guard let watcher else { throw DemoFailure("nobody watches") }
        let outcome = try await watcher.outcome(within: .seconds(30))
        try expect(outcome.status == 0, "B ends after three changes, as requested")
        try expect(outcome.output.count == 4, "B showed three changes and nothing else")
    }
}
