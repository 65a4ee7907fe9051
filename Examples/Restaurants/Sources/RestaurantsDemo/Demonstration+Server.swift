import Foundation

/// The steps in which the same app stores its documents on `keel serve`, and at last in PostgreSQL.
extension Demonstration {
    private var serverFile: String {
        setting.folder.appending(path: "Server.sqlite").path(percentEncoded: false)
    }

    func startServer() async throws {
        try await awaitServer()
        try await startServer(on: "sqlite:\(serverFile)", port: "0")
    }

    /// Waits until the server's program is compiled.
    private func awaitServer() async throws {
        guard let file = setting.serverPath else { return }
        let path = file.path(percentEncoded: false)
        if !FileManager.default.fileExists(atPath: path) {
            note("The server is still being compiled: up to some minutes, the first time.")
        }
        while !FileManager.default.fileExists(atPath: path) {
            // Real time, because another process compiles.
            try await Task.sleep(for: .milliseconds(200))
        }
        let text = try String(contentsOf: file, encoding: .utf8)
        guard text.contains("error: ") else { return }
        throw DemoFailure(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func startServer(on storage: String, port: String) async throws {
        let server = try start("keel", ["serve", "--storage", storage, "--port", port])
        self.server = server
        store = try await server.line(within: .seconds(30), "the address of the server") {
            $0.hasPrefix("http://127.0.0.1:")
        }
        note("keel serve, process \(server.identifier): \(store)")
    }

    func refreshOnServer() async throws {
        try await app(.a, as: nil, "login", "ada@example.com", password: "engine")
        let report = try Output.refresh(try await app(.a, "refresh").output)
        // The service no longer knows one restaurant after its restart.
        try expect(report.added == setting.restaurants.count - 1, "all are new on this server")
        let found = try await app(.b, "search", chosen.name).output
        try expect(Output.ids(found).contains(chosen.id), "B finds \(chosen.name) there")
    }

    func watchOnServer() async throws {
        let watcher = try startApp(.b, "ada", ["watch"])
        self.watcher = watcher
        let began = try await watcher.line(within: .seconds(30), "the start of watching") {
            $0.hasPrefix("Watching for ada")
        }
        show([began], from: .b)
        try await app(.a, "favourite", chosen.id)
        try await expectLive { $0.contains("♥ ada likes") && $0.contains("(\(chosen.id))") }
    }

    func killServer() async throws {
        guard let server else { throw DemoFailure("there is no server") }
        server.kill()
        let outcome = try await server.outcome(within: .seconds(30))
        try expect(outcome.status == SIGKILL, "the server was killed")
        note("kill -9 of process \(server.identifier)")
        try await app(.a, "list", "--limit", "1", status: 1)
    }

    func restartServer() async throws {
        guard let port = store.split(separator: ":").last else { return }
        try await startServer(on: "sqlite:\(serverFile)", port: String(port))
        let own = try await app(.a, "favourites").output
        try expect(Output.ids(own) == [chosen.id], "the favourite is there")
        try await app(.a, "rate", chosen.id, "4")
        try await expectLive { $0.contains("★★★★☆ ada rates") && $0.contains("(\(chosen.id))") }
        await watcher?.stop()
    }

    func endServer() async throws {
        guard let server else { throw DemoFailure("there is no server") }
        await server.stop()
        let outcome = try await server.outcome(within: .seconds(30))
        try expect(outcome.status == 0, "SIGTERM ended it, and nothing was cut off")
    }

    /// The steps of “Moving a running app from SQLite” in `Documentation/PostgreSQL.md`.
    func moveToPostgreSQL() async throws {
        guard let script = setting.postgreSQL else { throw DemoFailure("PostgreSQL is missing") }
        let database = try start(script)
        let port = try await database.line(within: .seconds(60), "the port") { Int($0) != nil }
        let url = "postgres://keel@127.0.0.1:\(port)/postgres"
        note("a PostgreSQL server of its own, process \(database.identifier): \(url)")
        store = setting.store
        note("1. The app, on its file, gets a mirror, which lacks the older documents")
        try await app(.a, "rate", chosen.id, "1", "--mirror", url)
        note("2. keel documents copy adds them, while the app writes")
        let copy = try start("keel", ["documents", "copy", store, url, "--quiet"])
        try await app(.a, "rate", chosen.id, "2", "--mirror", url)
        // Its comparison may find what the app has just written, so the next step decides.
        for line in try await copy.outcome(within: .seconds(300)).output { note(line) }
        note("3. The mirror gets each change of the file")
        let mirrored = try await app(.a, "rate", chosen.id, "3", "--mirror", url)
        try expect(mirrored.errors.isEmpty, "no event of the mirror")
        let own = try await app(.a, "favourites", "--mirror", url)
        try expect(own.errors.isEmpty, "no difference in the results of reads")
        let diff = try await start("keel", ["documents", "diff", store, url])
            .outcome(within: .seconds(300))
        for line in diff.output + diff.errors { note("keel documents diff: \(line)") }
        try expect(diff.status == 0, "both stores have the same documents")
        note("4. The app starts on PostgreSQL alone")
        store = url
        let moved = try await app(.a, "favourites").output
        try expect(moved == own.output, "the same favourites")
        try expect(moved.contains { $0.contains("★★★☆☆") }, "and the last rating")
        try await app(.a, "rate", chosen.id, "5")
        let shown = try await app(.b, "favourites").output
        try expect(shown.contains { $0.contains("★★★★★") }, "B sees what A does now")
        await database.stop()
    }
}
