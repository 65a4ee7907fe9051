#if PostgreSQL && (os(Linux) || os(macOS))
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelToolsTestSupport
import Synchronization
import Testing

/// Three servers of one database behind a proxy that sends each request to the next one, while one server after the
/// other is killed and started again.
@Suite(
    "Several keel serve behind nginx",
    .serialized,
    .timeLimit(.minutes(30)),
    .enabled(if: NginxProxy.program != nil, NginxProxy.absence)
)
struct ServerFleetTests {
    /// The number of commits: a run for a change is brief, the nightly run sets `KEEL_THOROUGH`, and
    /// `KEEL_FLEET_COMMITS` comes before both.
    private static let commits: Int = {
        let variables = ProcessInfo.processInfo.environment
        if let given = variables["KEEL_FLEET_COMMITS"].flatMap({ Int($0) }) { return given }
        return (variables["KEEL_THOROUGH"] ?? "").isEmpty ? 1_600 : 20_000
    }()

    private final class End: Sendable {
        let hasCome = Atomic(false)
    }

    /// Runs work at a proxy, and kills a server each second until it ends.
    private func withFleet<Value: Sendable>(
        _ work: @escaping @Sendable (_ port: Int, AsyncHTTPClientTransport) async throws -> Value
    ) async throws -> (value: Value, kills: Int) {
        let database = try PostgreSQLServer.shared.get().database()
        var servers: [ServedProcess] = []
        for _ in 0..<3 {
            let port = try await FreePort.find()
            servers.append(try ServedProcess(storage: database, port: port))
        }
        let proxy = try await NginxProxy(before: servers.map(\.port))
        let transport = AsyncHTTPClientTransport()
        let port = proxy.port
        let end = End()
        let running = Task {
            defer { end.hasCome.store(true, ordering: .releasing) }
            return try await work(port, transport)
        }
        var kills = 0
        while !end.hasCome.load(ordering: .acquiring) {
            try await Task.sleep(for: .seconds(1))
            let victim = kills % servers.count
            servers[victim].kill()
            servers[victim] = try ServedProcess(storage: database, port: servers[victim].port)
            kills += 1
        }
        let result = await running.result
        for server in servers { server.kill() }
        proxy.stop()
        await transport.shutdown()
        return (try result.get(), kills)
    }

    /// Follows the changes until a number of documents of the collection `load` have been reported; returns their ids.
    static func loaded(
        _ count: Int,
        in adapter: some StorageAdapter,
        after start: ChangeCursor
    ) async throws -> [String] {
        var seen: [String] = []
        var request = ChangeRequest(after: start, waitTimeout: .seconds(10))
        while seen.count < count {
            let page = try await adapter.changes(request)
            seen += page.changes.map(\.path).filter { $0.collection == "load" }.map(\.id)
            request.after = page.next
        }
        return seen
    }

    @Test("A listener misses and doubles nothing")
    func listener() async throws {
        let writers = 4
        let each = Self.commits / writers
        let (seen, kills) = try await withFleet { port, transport in
            let address = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let adapter = FirestoreStorageAdapter(.patient(address), transport: transport)
                .retrying(.patient)
            let storage = StorageClient(adapter)
            let start = try await adapter.changes(ChangeRequest()).next
            return try await withThrowingTaskGroup(of: [String].self) { group in
                group.addTask { try await Self.loaded(writers * each, in: adapter, after: start) }
                for writer in 0..<writers {
                    group.addTask {
                        for number in 0..<each {
                            try await storage.createDocument(
                                DocumentPath("load/\(writer)-\(number)"),
                                ["n": .integer(Int64(number))]
                            )
                        }
                        return []
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
        }
        print("\(writers * each) commits and \(kills) kills")
        for writer in 0..<writers {
            let own = seen.filter { $0.hasPrefix("\(writer)-") }
            #expect(own == (0..<each).map { "\(writer)-\($0)" })
        }
        #expect(seen.count == writers * each)
        #expect(kills > 0)
    }

    /// A client that repeats a request until a server answers it, as Google's client libraries do.
    struct Client {
        static let database = "projects/p/databases/(default)"
        static let documents = "/v1/\(database)/documents"

        let port: Int
        let transport: AsyncHTTPClientTransport

        /// The fields of a response that the test reads.
        struct Answer: Decodable {
            struct Value: Decodable { let integerValue: String }

            let transaction: String?
            let fields: [String: Value]?
        }

        /// Sends a request once; returns nil if no server answered it.
        func attempt(
            _ method: HTTPRequest.Method,
            _ place: String,
            _ body: String? = nil
        ) async throws -> (status: Int, answer: Answer)? {
            let call = HTTPCall(head(method, place), body: body.map { HTTPBody(Array($0.utf8)) })
            // The proxy closes a connection whose server ends in the middle of a response.
            guard let reply = try? await transport.send(call),
                let bytes = try? await reply.body.collect(upTo: 1 << 20),
                // 502 and 504 are the proxy's.
                ![502, 503, 504].contains(reply.head.status.code)
            else { return nil }
            return (
                reply.head.status.code, try JSONDecoder().decode(Answer.self, from: Data(bytes))
            )
        }

        func send(
            _ method: HTTPRequest.Method,
            _ place: String,
            _ body: String? = nil
        ) async throws -> (status: Int, answer: Answer) {
            while true {
                if let reply = try await attempt(method, place, body) { return reply }
                try await Task.sleep(for: .milliseconds(20))
            }
        }

        /// Sends a request and returns its status; 0 without a response.
        func sendOnce(_ method: HTTPRequest.Method, _ place: String, _ body: String) async -> Int {
            let call = HTTPCall(head(method, place), body: HTTPBody(Array(body.utf8)))
            guard let reply = try? await transport.send(call),
                (try? await reply.body.collect(upTo: 1 << 20)) != nil
            else { return 0 }
            return reply.head.status.code
        }

        private func head(_ method: HTTPRequest.Method, _ place: String) -> HTTPRequest {
            HTTPRequest(
                method: method,
                scheme: "http",
                authority: "127.0.0.1:\(port)",
                path: Self.documents + place,
                headerFields: [.contentType: "application/json"]
            )
        }

        func number(_ path: String, in token: String? = nil) async throws -> Int? {
            let items = token.map { "?transaction=\($0)" } ?? ""
            let (status, answer) = try await send(.get, "/\(path)\(items)")
            if status == 404 { return 0 }
            return answer.fields?["n"].flatMap { Int($0.integerValue) }
        }

        /// Returns the body of a commit that sets a number.
        static func commit(of number: Int, to path: String, in token: String) -> String {
            let name = database + "/documents/" + path
            let fields = #"{"n":{"integerValue":"\#(number)"}}"#
            let write = #"{"update":{"name":"\#(name)","fields":\#(fields)}}"#
            return #"{"writes":[\#(write)],"transaction":"\#(token)"}"#
        }

        /// Adds one to a number in a transaction, and returns whether it was committed.
        func increment(_ path: String) async throws -> Bool {
            let begun = try await send(.post, ":beginTransaction", "{}")
            let token = try #require(begun.answer.transaction)
            guard let number = try await number(path, in: token) else { return false }
            let body = Self.commit(of: number + 1, to: path, in: token)
            let commit = try await send(.post, ":commit", body)
            #expect([200, 409].contains(commit.status))
            return commit.status == 200
        }
    }

    /// Runs work at a proxy before three servers.
    private func withServers(
        _ options: [String] = [],
        _ work: (NginxProxy, AsyncHTTPClientTransport) async throws -> Void
    ) async throws {
        let database = try PostgreSQLServer.shared.get().database()
        let servers = try ["a", "b", "c"].map {
            try ServedProcess(storage: database, port: 0, ["--name", $0] + options)
        }
        let proxy = try await NginxProxy(before: servers.map(\.port))
        let transport = AsyncHTTPClientTransport()
        let result: Result<Void, any Error>
        do {
            // nginx may not listen yet.
            let client = Client(port: proxy.port, transport: transport)
            #expect(try await client.number("a/0") == 0)
            result = .success(try await work(proxy, transport))
        } catch {
            result = .failure(error)
        }
        for server in servers { server.kill() }
        proxy.stop()
        await transport.shutdown()
        try result.get()
    }

    @Test("Servers answer to the public name that they allow, and to no other")
    func publicName() async throws {
        try await withServers(["--allow-host", "keel.example.org"]) { proxy, _ in
            for (host, status) in [("keel.example.org", 200), ("evil.example.org", 403)] {
                let answer = try await RawClient.connected(to: proxy.port) { client in
                    try await client.send(
                        "GET /health HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
                    )
                    return await client.readToEnd()
                }
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
            }
        }
    }

    @Test(
        "Google's Python client works unchanged through the proxy",
        .enabled(if: PythonClient.isPresent, PythonClient.absence),
        arguments: ["rest", "grpc"]
    )
    func pythonClient(carrier: String) async throws {
        try await withServers(["--history", "1h"]) { proxy, _ in
            let port = carrier == "grpc" ? proxy.portHTTP2 : proxy.port
            let run = try await PythonClient.run(
                "firestore-client.py",
                ["127.0.0.1:\(port)", carrier]
            )
            let failures = run.lines.filter { $0.hasPrefix("FAIL") }
            #expect(failures == [], "\(run.lines.joined(separator: "\n"))")
            #expect(run.exitCode == 0)
        }
    }

    /// Counts the sessions of WebChannel that a client opens.
    private final class SessionCount: HTTPTransport {
        private let upstream: any HTTPTransport
        private let opened = Atomic(0)

        init(_ upstream: any HTTPTransport) { self.upstream = upstream }

        var features: HTTPTransportFeatures { upstream.features }
        var count: Int { opened.load(ordering: .relaxed) }

        func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
            // Only the first request of a session has the version of the protocol.
            if call.head.path?.contains("CVER=") == true { opened.add(1, ordering: .relaxed) }
            return try await upstream.send(call)
        }

        func shutdown() async { await upstream.shutdown() }
    }

    @Test("A session over WebChannel stays with its server")
    func webChannel() async throws {
        try await withServers { proxy, transport in
            let host = "127.0.0.1:\(proxy.port)"
            var configuration = FirestoreStorageAdapter.Configuration.emulator(
                host: host,
                project: "p"
            )
            configuration.timeout = .seconds(600)
            let sessions = SessionCount(transport)
            let storage = StorageClient(FirestoreStorageAdapter(configuration, transport: sessions))
            try await storage.setDocument("notes/1", ["n": 0])
            var snapshots = storage.listenToDocument("notes/1").makeAsyncIterator()
            #expect(try await snapshots.next()?.document?["n"] == 0)
            for number in 1...100 {
                try await storage.setDocument("notes/1", ["n": .integer(Int64(number))])
                // Google's protocol may leave out a state that a later one follows, but not the last one.
                while true {
                    let snapshot = try #require(try await snapshots.next())
                    if snapshot.document?["n"] == .integer(Int64(number)) { break }
                }
            }
            // A client that loses its session opens another one.
            #expect(sessions.count == 1)
        }
    }

    /// nginx answers a request with 502 if its connection waits to be accepted when a server closes its port.
    @Test("A rolling restart loses no commit of a client that repeats nothing, and fails few")
    func rollingRestart() async throws {
        let database = try PostgreSQLServer.shared.get().database()
        func start(_ port: Int) throws -> ServedProcess {
            try ServedProcess(storage: database, port: port, ["--drain", "1"])
        }
        var servers: [ServedProcess] = []
        for _ in 0..<3 {
            let port = try await FreePort.find()
            servers.append(try start(port))
        }
        let proxy = try await NginxProxy(before: servers.map(\.port))
        let transport = AsyncHTTPClientTransport()
        let client = Client(port: proxy.port, transport: transport)
        // nginx may not listen yet.
        #expect(try await client.number("a/0") == 0)
        let end = End()
        let running = Task {
            await withTaskGroup(of: [Int: Int].self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        let name = Client.database + "/documents/a/\(writer)"
                        let add = #"{"fieldPath":"n","increment":{"integerValue":"1"}}"#
                        let write = #"{"update":{"name":"\#(name)"},"updateTransforms":[\#(add)]"#
                        let body = #"{"writes":[\#(write),"updateMask":{}}]}"#
                        var statuses: [Int: Int] = [:]
                        while !end.hasCome.load(ordering: .acquiring) {
                            let status = await client.sendOnce(.post, ":commit", body)
                            statuses[status, default: 0] += 1
                        }
                        return statuses
                    }
                }
                return await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
            }
        }
        for index in servers.indices {
            #expect(servers[index].terminate() == 0)
            servers[index] = try start(servers[index].port)
        }
        end.hasCome.store(true, ordering: .releasing)
        let statuses = await running.value
        #expect(statuses.keys.allSatisfy { [200, 502].contains($0) }, "\(statuses)")
        #expect(statuses[502, default: 0] <= 6, "\(statuses)")
        var counted = 0
        for writer in 0..<4 { counted += try await client.number("a/\(writer)") ?? 0 }
        let answered = statuses[200, default: 0]
        #expect((answered...answered + statuses[502, default: 0]).contains(counted), "\(statuses)")
        for server in servers { server.kill() }
        proxy.stop()
        await transport.shutdown()
    }

    @Test("A transaction by token takes effect once, whichever servers its requests reach")
    func transactions() async throws {
        let (writers, each) = (4, Self.commits / 26)
        let (result, kills) = try await withFleet { port, transport in
            let client = Client(port: port, transport: transport)
            let committed = try await withThrowingTaskGroup(of: Int.self) { group in
                for writer in 0..<writers {
                    group.addTask {
                        var committed = 0
                        for _ in 0..<each where try await client.increment("a/\(writer / 2)") {
                            committed += 1
                        }
                        return committed
                    }
                }
                return try await group.reduce(0, +)
            }
            let numbers = try await [client.number("a/0"), client.number("a/1")]
            return (committed, numbers)
        }
        print("\(result.0) of \(writers * each) transactions committed, \(kills) kills")
        #expect(result.1.reduce(0) { $0 + ($1 ?? 0) } == result.0)
        // Two writers of each document conflict now and then.
        #expect(result.0 >= writers * each / 4)
        #expect(kills > 0)
    }
}
#endif
