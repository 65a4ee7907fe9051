#if PostgreSQL
import Foundation
import KeelStorage
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Connections to PostgreSQL")
struct ConnectionTests {
    private func settings(_ url: String, unverified: Bool = false) throws -> ConnectionSettings {
        try ConnectionSettings(.url(url), allowsUnverifiedServers: unverified)
    }

    private func thread(_ url: String) throws -> ConnectionThread {
        try ConnectionThread("test", settings(url), answerLimit: .seconds(30))
    }

    // MARK: URLs

    @Test("A URL may name several hosts, each with its port")
    func readsURLs() throws {
        let two = try settings("postgres://ada@db1.example.com:5433,db2.example.com:5434/notes")
        #expect(two.hosts.map { $0["host"] } == ["db1.example.com", "db2.example.com"])
        #expect(two.hosts.map { $0["port"] } == ["5433", "5434"])
        #expect(two.hosts.map { $0["sslmode"] } == ["verify-full", "verify-full"])
        #expect(two.hosts[0]["target_session_attrs"] == "read-write")
        #expect(two.description == "postgres://db1.example.com:5433,db2.example.com:5434/notes")
        let one = try settings("host=127.0.0.1 dbname=notes connect_timeout=2")
        #expect(one.hosts[0]["sslmode"] == nil)
        #expect(one.attemptLimit == .seconds(2))
        for timeout in ["", " connect_timeout=0", " connect_timeout=-1"] {
            #expect(try settings("host=127.0.0.1" + timeout).attemptLimit == .seconds(5))
        }
    }

    @Test("A server over a network must prove its name unless that is waived")
    func demandsVerification() throws {
        let error = expectError(StorageError.self, .invalidArgument) {
            try settings("postgres://db.example.com/notes?sslmode=require")
        }
        #expect(error?.message.contains("verify-full") == true)
        let waived = try settings(
            "postgres://db.example.com/notes?sslmode=require",
            unverified: true
        )
        #expect(waived.hosts[0]["sslmode"] == "require")
        // A service may be on any host, whatever else the URL names.
        for url in ["postgres:///notes?service=main", "service=main host=localhost"] {
            #expect(try settings(url).hosts[0]["sslmode"] == "verify-full")
        }
    }

    @Test("No description contains the password")
    func hidesPasswords() throws {
        let location = PostgreSQLStorageLocation.url("postgres://ada:secret@127.0.0.1/notes")
        var dumped = ""
        dump(location, to: &dumped)
        for text in ["\(location)", String(reflecting: location), dumped] {
            #expect(!text.contains("secret"))
        }
        let broken = PostgreSQLStorageLocation.url("postgres://ada:secret@127.0.0.1:port:5/%zz")
        let error = #expect(throws: StorageError.self) {
            try ConnectionSettings(broken, allowsUnverifiedServers: false)
        }
        #expect(error?.description.contains("secret") == false)
    }

    // MARK: Statements

    @Test("Values of every kind survive the binary format")
    func keepsValues() async throws {
        let url = try await PostgreSQLServer.shared.value.url()
        let thread = try thread(url)
        let bytes: [UInt8] = [0, 1, 255]
        let rows = try await thread.run { connection in
            let rows = try connection.run(
                DatabaseStatement(
                    """
                    SELECT $1::bigint, $2::bytea, $3::bytea, $4::text, a, b, c, d
                    FROM unnest($5::bigint[], $6::bytea[], $7::bytea[], $8::boolean[]) AS t(a, b, c, d)
                    """
                ) {
                    $0.add(Int64.min)
                    $0.add(bytes)
                    $0.addNull()
                    $0.add(text: "é")
                    $0.add([1, nil] as [Int64?])
                    $0.add([[], [7]] as [[UInt8]])
                    $0.add([nil, [8]] as [[UInt8]?])
                    $0.add([true, false])
                }
            )
            return rows.map { row in
                "\(row.integer(0)) \(row.bytes(1)) \(row.isNull(2)) \(row.text(3)) "
                    + "\(String(describing: row.optional(4))) \(row.bytes(5)) \(row.isNull(6)) \(row.boolean(7))"
            }
        }
        #expect(
            rows == [
                "\(Int64.min) [0, 1, 255] true é Optional(1) [] true true",
                "\(Int64.min) [0, 1, 255] true é nil [7] false false",
            ]
        )
        await thread.close()
    }

    @Test("A failed statement ends those after it and leaves the connection usable")
    func goesOnAfterFailures() async throws {
        let thread = try thread(try await PostgreSQLServer.shared.value.url())
        for _ in 0..<2 {
            let error = await expectError(StorageError.self, .unknown) {
                try await thread.run { connection in
                    try connection.run([
                        DatabaseStatement("SELECT 1"), DatabaseStatement("SELECT 1/0"),
                        DatabaseStatement("SELECT 2"),
                    ]).count
                }
            }
            #expect(error?.effect == StorageError.Effect.none)
        }
        let (answer, count) = try await thread.run { connection in
            (
                try connection.run(DatabaseStatement("SELECT 3")).first?.integer(0),
                connection.openCount
            )
        }
        #expect(answer == 3)
        #expect(count == 1)
        await thread.close()
    }

    // MARK: Ends of waiting

    @Test("A canceled task stops its statement, and the connection can be used again")
    func cancels() async throws {
        let thread = try thread(try await PostgreSQLServer.shared.value.url())
        let pid = try await thread.run {
            try $0.run(DatabaseStatement("SELECT pg_backend_pid()")).first?.integer(0)
        }
        let other = try self.thread(try await PostgreSQLServer.shared.value.url())
        // Longer than the limit for the answer, so a statement that goes on ends with another error.
        let call = Task {
            try await thread.run { connection in
                try connection.run(DatabaseStatement("SELECT pg_sleep(60)")).count
            }
        }
        // Once the server sleeps, the cancellation has something to stop.
        while try await !other.run({ connection in
            try connection.run(
                DatabaseStatement(
                    """
                    SELECT 1 FROM pg_stat_activity
                    WHERE query LIKE '%pg_sleep(60)' AND state = 'active' AND pid = $1
                    """
                ) {
                    $0.add(pid ?? 0)
                }
            ).count == 1
        }) {}
        call.cancel()
        await expectError(StorageError.self, .cancelled) { try await call.value }
        let again = try await thread.run {
            try $0.run(DatabaseStatement("SELECT pg_backend_pid()")).first?.integer(0)
        }
        #expect(again == pid)
        await thread.close()
        await other.close()
    }

    @Test("A server that does not answer in time ends the call with a timeout")
    func timesOut() async throws {
        let thread = try thread(try await PostgreSQLServer.shared.value.url())
        let error = await expectError(StorageError.self, .timeout) {
            try await thread.run { connection in
                try connection.openIfNeeded()
                // Only for the statement that is not answered: others may take long on a busy machine.
                connection.answerLimit = .milliseconds(100)
                defer { connection.answerLimit = .seconds(30) }
                return try connection.run(DatabaseStatement("SELECT pg_sleep(60)")).count
            }
        }
        #expect(error?.effect == StorageError.Effect.none)
        #expect(try await thread.run { try $0.run(DatabaseStatement("SELECT 1")).count } == 1)
        await thread.close()
    }

    @Test("A connection that the server ended is opened again for the next call")
    func reconnects() async throws {
        let thread = try thread(try await PostgreSQLServer.shared.value.url())
        let other = try self.thread(try await PostgreSQLServer.shared.value.url())
        let pid = try await thread.run {
            try $0.run(DatabaseStatement("SELECT pg_backend_pid()")).first?.integer(0)
        }
        _ = try await other.run { connection in
            try connection.run(
                DatabaseStatement("SELECT pg_terminate_backend($1::bigint::integer, 5000)") {
                    $0.add(pid ?? 0)
                }
            )
            .count
        }
        let next = try await thread.run {
            try $0.run(DatabaseStatement("SELECT pg_backend_pid()")).first?.integer(0)
        }
        #expect(next != nil && next != pid)
        await thread.close()
        await other.close()
    }

    @Test("A connection whose opening was canceled is opened anew by the next call")
    func cancelsOpenings() async throws {
        let thread = try thread(try await PostgreSQLServer.shared.value.url())
        let isOpen = try await Task {
            try await thread.run { connection -> Bool in
                _ = withUnsafeCurrentTask { $0?.cancel() }
                #expect(throws: WaitingEnd.self) { try connection.openIfNeeded() }
                return connection.isOpen
            }
        }.value
        #expect(!isOpen)
        let (isDirect, timeline) = try await thread.run { connection in
            try connection.openIfNeeded()
            return (connection.isDirect, connection.timeline)
        }
        #expect(isDirect)
        #expect(timeline != nil)
        await thread.close()
    }

    @Test("A wait whose deadline has passed ends at once")
    func waitsForNothing() throws {
        let isReady = try WakePipe().wait(-1, 0, upTo: .seconds(-1))
        #expect(!isReady)
    }

    @Test("A notification that arrives with the answer of a statement is received at once")
    func receivesEarlyNotifications() async throws {
        let thread = try thread(try await PostgreSQLServer.shared.value.url())
        let start = ContinuousClock.now
        let payloads = try await thread.run { connection in
            try connection.run(DatabaseStatement("LISTEN early"))
            try connection.run(DatabaseStatement("SELECT pg_notify('early', '1')"))
            return try connection.notifications(upTo: .seconds(60))
        }
        #expect(payloads == ["1"])
        #expect(ContinuousClock.now - start < .seconds(30))
        await thread.close()
    }

    // MARK: Refusals

    @Test("A role with a password needs the right one, by SCRAM")
    func authenticates() async throws {
        let server = try await PostgreSQLServer.shared.value
        let (role, password) = (PostgreSQLServer.cautiousRole, PostgreSQLServer.password)
        let owner = try thread(server.url())
        _ = try await owner.run { connection in
            try connection.run(DatabaseStatement("DROP ROLE IF EXISTS \(role)"))
            return try connection.run(
                DatabaseStatement("CREATE ROLE \(role) LOGIN PASSWORD '\(password)'")
            ).count
        }
        let quoted = password.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let right = try thread(server.url("\(role):\(quoted)"))
        #expect(try await right.run { try $0.run(DatabaseStatement("SELECT 1")).count } == 1)
        // A password that is missing is refused by libpq itself.
        for refused in ["\(role):wrong", role] {
            let thread = try thread(server.url(refused))
            let error = await expectError(StorageError.self, .unauthenticated) {
                try await thread.run { try $0.run(DatabaseStatement("SELECT 1")).count }
            }
            #expect(error?.description.contains("wrong") == false)
            await thread.close()
        }
        for thread in [owner, right] { await thread.close() }
    }

    @Test("A server that cannot prove to know the password is refused if the URL demands it")
    func demandsBinding() async throws {
        let server = try await PostgreSQLServer.shared.value
        let thread = try thread(
            "postgres://keel@127.0.0.1:\(server.port)/postgres?channel_binding=require"
        )
        await expectError(StorageError.self, .unauthenticated) {
            try await thread.run { try $0.run(DatabaseStatement("SELECT 1")).count }
        }
        await thread.close()
    }

    @Test("A missing database and a missing server are reported by code")
    func reportsRefusals() async throws {
        let server = try await PostgreSQLServer.shared.value
        await expectError(StorageError.self, .invalidArgument) {
            try await PostgreSQLStorageAdapter(at: .url(server.url(database: "missing")))
        }
        let port = try await PostgreSQLServer.freePort()
        let away = await expectError(StorageError.self, .unavailable) {
            try await PostgreSQLStorageAdapter(
                at: .url("postgres://keel@127.0.0.1:\(port)/postgres")
            )
        }
        #expect(away?.resource == "postgres://127.0.0.1:\(port)/postgres")
    }

    @Test("A server that is too old is refused with its version")
    func refusesOldServers() async throws {
        let server = try await PostgreSQLServer.shared.value
        try await server.run("CREATE DATABASE elder")
        let owner = try thread(server.url(database: "elder"))
        // The search path puts this function before the server's own.
        let function = "FUNCTION elder.current_setting(text) RETURNS text LANGUAGE sql"
        try await owner.run(["CREATE SCHEMA elder", "CREATE \(function) AS $$SELECT '130011'$$"])
        await owner.close()
        let path = "?options=-c%20search_path%3Delder%2Cpg_catalog"
        let error = await expectError(StorageError.self, .unsupported) {
            try await PostgreSQLStorageAdapter(at: .url(server.url(database: "elder", path)))
        }
        #expect(error?.message.contains("version 13") == true)
    }

    @Test("An adapter that may not create a store opens only one that exists")
    func opensOnlyWhatExists() async throws {
        let server = try await PostgreSQLServer.shared.value
        let owner = try thread(server.url())
        _ = try await owner.run { try $0.run(DatabaseStatement("CREATE DATABASE empty")).count }
        var configuration = PostgreSQLStorageAdapter.Configuration()
        configuration.createsStore = false
        let location = PostgreSQLStorageLocation.url(server.url(database: "empty"))
        for _ in 0..<2 {
            let error = await expectError(StorageError.self, .invalidArgument) {
                try await PostgreSQLStorageAdapter(at: location, configuration: configuration)
            }
            #expect(error?.message.contains("default") == true)
        }
        await (try PostgreSQLStorageAdapter(at: location)).close()
        await (try PostgreSQLStorageAdapter(at: location, configuration: configuration)).close()
        configuration.store = "other"
        await #expect(throws: StorageError.self) {
            try await PostgreSQLStorageAdapter(at: location, configuration: configuration)
        }
        await owner.close()
    }

    @Test("Of several hosts, the first that answers is used")
    func triesAllHosts() async throws {
        let server = try await PostgreSQLServer.shared.value
        let port = try await PostgreSQLServer.freePort()
        let thread = try thread(
            "postgres://keel@127.0.0.1:\(port),127.0.0.1:\(server.port)/postgres"
        )
        #expect(try await thread.run { try $0.run(DatabaseStatement("SELECT 1")).count } == 1)
        await thread.close()
    }

    @Test("A host that does not answer delays a connection by a moment, and is tried last then")
    func passesSilentHosts() async throws {
        let server = try await PostgreSQLServer.shared.value
        // The system accepts connections to it, and nobody reads from them.
        let silent = try FileDescriptor.listening()
        defer { silent.end() }
        let hosts = "127.0.0.1:\(silent.port),127.0.0.1:\(server.port)"
        var times: [Duration] = []
        for _ in 0..<5 {
            let settings = try settings("postgres://keel@\(hosts)/postgres?connect_timeout=60")
            let thread = try ConnectionThread("test", settings, answerLimit: .seconds(10))
            let start = ContinuousClock.now
            #expect(try await thread.run { try $0.run(DatabaseStatement("SELECT 1")).count } == 1)
            times.append(ContinuousClock.now - start)
            await thread.close()
            let later = settings.silent.ordered(settings.hosts)
            #expect(later == [settings.hosts[1], settings.hosts[0]])
        }
        // The machine may be busy during some of them.
        let least = try #require(times.min())
        #expect(least < .seconds(1))
    }

    @Test("A host that does not answer has the whole time limit if no other can be used")
    func waitsForSilentHosts() async throws {
        let free = try await PostgreSQLServer.freePort()
        let silent = try FileDescriptor.listening()
        defer { silent.end() }
        let (first, second) = ("127.0.0.1:\(silent.port)", "127.0.0.1:\(free)")
        for hosts in [first, "\(first),\(second)", "\(second),\(first)"] {
            let settings = try settings("postgres://keel@\(hosts)/postgres?connect_timeout=1")
            for _ in 0..<2 {
                let thread = try ConnectionThread("test", settings, answerLimit: .seconds(10))
                let start = ContinuousClock.now
                await expectError(StorageError.self, .unavailable) {
                    try await thread.run { try $0.run(DatabaseStatement("SELECT 1")).count }
                }
                #expect(ContinuousClock.now - start >= .seconds(1))
                #expect(ContinuousClock.now - start < .seconds(30))
                await thread.close()
            }
        }
    }

    @Test("Cancellation ends the opening of a connection while a host does not answer")
    func cancelsRaces() async throws {
        let silent = try FileDescriptor.listening()
        defer { silent.end() }
        let thread = try thread(
            "postgres://keel@127.0.0.1:\(silent.port)/postgres?connect_timeout=60"
        )
        let start = ContinuousClock.now
        let call = Task { try await thread.run { try $0.run(DatabaseStatement("SELECT 1")).count } }
        let client = try #require(silent.accept())
        call.cancel()
        await expectError(StorageError.self, .cancelled) { try await call.value }
        #expect(ContinuousClock.now - start < .seconds(30))
        // The attempt is closed, after the request that nobody answered.
        while client.read() != nil {}
        await thread.close()
    }

    @Test("A standby is passed, and found if it is promoted while another host is silent")
    func findsPromotedStandbys() async throws {
        let (primary, standby) = try await PostgreSQLServer.pair()
        defer { for server in [standby, primary] { server.stop() } }
        let relay = try CuttingRelay(to: standby.port)
        defer { relay.stop() }
        let silent = try FileDescriptor.listening()
        defer { silent.end() }
        func thread(_ ports: Int...) throws -> ConnectionThread {
            let hosts = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
            return try self.thread("postgres://keel@\(hosts)/postgres?connect_timeout=60")
        }
        let start = ContinuousClock.now
        let first = try thread(standby.port, primary.port)
        let timeline = try await first.run { connection in
            try connection.openIfNeeded()
            return connection.timeline
        }
        #expect(timeline == 1)
        let second = try thread(silent.port, relay.port)
        let call = Task {
            try await second.run { connection in
                try connection.openIfNeeded()
                return connection.timeline
            }
        }
        // The server has greeted the second connection, and said that it is a standby.
        try await waitUntil { relay.steps >= 4 }
        try await standby.run("SELECT pg_promote()")
        #expect(try await call.value == 2)
        #expect(ContinuousClock.now - start < .seconds(30))
        for thread in [first, second] { await thread.close() }
    }

    @Test("Every address of a host’s name is tried")
    func triesAllAddresses() async throws {
        let host = ["host": "db.example.com", "port": "5433"]
        let several = ConnectionSettings.addresses(of: host) { _ in ["10.0.0.1", "fe80::1"] }
        #expect(several.map { $0["hostaddr"] } == ["10.0.0.1", "fe80::1"])
        #expect(several.allSatisfy { $0["host"] == "db.example.com" && $0["port"] == "5433" })
        let unknown = ConnectionSettings.addresses(of: host) { _ in [] }
        #expect(unknown.isEmpty)
        let known: [[String: String]] = [
            ["host": "/run/postgresql"], ["host": "127.0.0.1"], [:],
            ["host": "db.example.com", "hostaddr": "10.0.0.1"],
        ]
        for host in known { #expect(ConnectionSettings.addresses(of: host) == [host]) }
        let port = try await PostgreSQLServer.shared.value.port
        let thread = try thread("postgres://keel@localhost:\(port)/postgres")
        #expect(try await thread.run { try $0.run(DatabaseStatement("SELECT 1")).count } == 1)
        await thread.close()
    }

    @Test("The reason of a server that refuses is reported before a host that is down")
    func reportsTheReason() async throws {
        let server = try await PostgreSQLServer.shared.value
        let port = try await PostgreSQLServer.freePort()
        let thread = try thread(
            "postgres://keel@127.0.0.1:\(server.port),127.0.0.1:\(port)/missing"
        )
        await expectError(StorageError.self, .invalidArgument) {
            try await thread.run { try $0.run(DatabaseStatement("SELECT 1")).count }
        }
        await thread.close()
    }
}
#endif
