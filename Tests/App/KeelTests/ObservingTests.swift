import Foundation
import HTTPTypes
import Keel
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

#if Logging
import KeelLogging
import Logging
#endif

@Suite("A single observer of every area", .timeLimit(.minutes(1)))
struct ObservingTests {
    /// The observations so far.
    private final class Lines: Sendable {
        private let stored = Mutex<[KeelObservation]>([])
        var all: [KeelObservation] { stored.withLock { $0 } }
        func add(_ line: KeelObservation) { stored.withLock { $0.append(line) } }

        var areas: Set<String> { Set(all.map(\.area.name)) }
        func of(_ area: KeelObservation.Area) -> [KeelObservation] {
            all.filter { $0.area == area }
        }
    }

    private let lines = Lines()
    private var observer: KeelObserver { KeelObserver { [lines] in lines.add($0) } }

    private static let secret = "s3cret-of-ada"

    @Test("One observer receives every area, and no line has a value, a key or a token")
    func everyArea() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keel-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var keel = KeelConfiguration.preview(observer: observer)
        keel.caches = .folder(folder.appending(path: "caches"))
        keel.files = .folder(folder.appending(path: "files"))
        try await use(keel)
        // The web service has its own test; a monitor is reported when it has ended.
        let areas: Set = [
            "storage", "caches", "files", "secrets", "location", "analytics", "security", "outbox",
            "repositories",
        ]
        try await waitUntil { lines.areas == areas }
        #expect(lines.of(.repositories).map(\.operation).contains("service"))
        for line in lines.all {
            #expect(!"\(line) \(line.details)".contains(Self.secret))
            #expect(!"\(line)".contains("ada@example.com"))
        }
    }

    private func use(_ keel: KeelConfiguration) async throws {
        let secret = Self.secret
        let storage = try keel.makeStorage()
        try await storage.setDocument("users/\(secret)/notes/1", ["text": .string(secret)])
        _ = try await storage.getDocument("users/\(secret)/notes/1")

        let caches = try keel.makeCaches()
        await caches.cache("names", key: String.self, value: String.self).set(secret, for: secret)
        try await caches.flush()

        try await keel.makeFiles().write(Data(secret.utf8), to: "\(secret).txt")
        try await keel.makeSecrets().save(secret, forKey: secret)
        _ = try await keel.makeLocation().currentLocation()

        #if Crypto
        let security = keel.makeSecurity()
        _ = try security.decrypt(security.encrypt(Data(secret.utf8)))
        #endif

        var destinations = AnalyticsConfiguration()
        destinations.defaultConsent = .granted
        destinations.add(ScriptedAnalyticsDestination())
        let analytics = try keel.makeAnalytics(destinations)
        analytics.setUserID("ada@example.com")
        analytics.trackEvent("opened", parameters: ["secret": .string(secret)])
        #expect(await analytics.flush(upTo: .seconds(600)))

        let observer = try #require(keel.observer)
        var settings = Outbox.Configuration()
        settings.onEvent = { observer(KeelObservation($0)) }
        let outbox = Outbox(storage, configuration: settings)
        _ = try await outbox.enqueue(OutboxWrite(key: secret, kind: "save"))
        _ = try await outbox.flush(sending: Refusing())

        _ = try await observer.measure(.repositories, "all") {
            try await storage.findDocument("users/\(secret)")
        }
        let loader = ResourceLoader(
            memory: ResourceMemory(),
            observer: { observer(KeelObservation($0)) }
        )
        let resource = Resource("names/\(secret)") {
            secret
        } read: {
            nil
        } store: { _ in
        }
        #expect(try await loader.load(resource, .cacheFirst()).value == secret)
    }

    private struct Refusing: OutboxSender {
        func send(_ delivery: OutboxDelivery) async -> OutboxVerdict {
            .rejected(reason: "no \(ObservingTests.secret)")
        }
    }

    @Test("Storage observations state the call, its collection and its outcome")
    func storage() async throws {
        let storage = KeelConfiguration.preview(observer: observer)
            .client(on: InMemoryStorageAdapter().failing([nil, nil, .fail(.unavailable)]))
        try await storage.setDocument("users/ada/notes/1", ["a": 1])
        _ = try await storage.findDocument("users/ada/notes/1")
        await expectError(StorageError.self, .unavailable) {
            try await storage.getDocument("users/ada/notes/1")
        }
        let told = lines.of(.storage).filter { $0.operation != "prepare" }
        #expect(told.map(\.operation).last == "get")
        #expect(told.last?.failure == "unavailable" && told.last?.isWarning == true)
        let commit = try #require(told.first { $0.operation == "commit" })
        #expect(commit.details == ["collection": "users/*/notes", "writes": "1"])
        #expect(commit.failure == nil && commit.duration != nil)
    }

    @Test("Network observations state method, status and failure, but no address")
    func network() async throws {
        let transport = ScriptedHTTPTransport([
            .status(.noContent), .failure(TransportError(.responseTimeout, "late")),
        ])
        var settings = try NetworkClient.Configuration("https://example.com/\(Self.secret)")
        settings.observers.append(ReportingEventObserver(observer))
        settings.retry = .never
        let client = NetworkClient(settings, transport: transport)
        _ = await client.response(to: PresetTests.Ping())
        _ = await client.response(to: PresetTests.Ping())
        let told = lines.of(.network)
        #expect(told.map(\.operation) == ["GET", "GET"])
        #expect(told.first?.details["status"] == "204")
        #expect(told.last?.failure == "responseTimeout")
        #expect(!"\(told)".contains(Self.secret))
    }

    @Test("An observation reads as a log sentence, and a cancelled call is not a warning")
    func line() {
        let details = ["writes": "2", "collection": "notes"]
        let line = KeelObservation(.storage, "commit", details: details, failure: "conflict")
        #expect("\(line)" == "storage commit failed: conflict (collection: notes, writes: 2)")
        #expect(line.isWarning)
        #expect(!KeelObservation(.files, "read", failure: "cancelled").isWarning)
        #expect("\(KeelObservation(.files, "list"))" == "files list")
    }

    @Test("A measured failure has the code of its error")
    func measure() async throws {
        struct Failure: Error {}
        #expect(await observer.measure(.repositories, "a") { 7 } == 7)
        await #expect(throws: Failure.self) {
            try await observer.measure(.repositories, "b") { throw Failure() }
        }
        await #expect(throws: StorageError.self) {
            try await observer.measure(.repositories, "c") { () throws(StorageError) in
                throw StorageError(.conflict, "no \(Self.secret)")
            }
        }
        await #expect(throws: CancellationError.self) {
            try await observer.measure(.repositories, "d") { throw CancellationError() }
        }
        #expect(lines.all.map(\.failure) == [nil, "Failure", "conflict", "cancelled"])
        #expect(lines.all.map(\.isWarning) == [false, true, true, false])
    }

    #if Logging
    @Test("A logger receives debug lines for successes and warnings for failures")
    func logger() {
        let output = RecordingLogOutput()
        let logger = Logger(label: "keel") { label in
            OutputLogHandler(label: label, output: output, level: .debug)
        }
        let observer = KeelObserver.logger(logger)
        observer(KeelObservation(.files, "read", details: ["bytes": "3"]))
        observer(KeelObservation(.secrets, "read", failure: "locked"))
        let records = output.records
        #expect(records.map(\.message) == ["files read", "secrets read failed"])
        #expect(records.map(\.level) == [.debug, .warning])
        #expect(records.map { $0["keel.area"] } == [.text("files"), .text("secrets")])
        #expect(records.first?["keel.bytes"] == .text("3"))
        #expect(records.last?["error.code"] == .text("locked"))
    }
    #endif
}

#if Logging
/// Keeps records in memory.
private final class RecordingLogOutput: LogOutput {
    private let stored = Mutex<[LogRecord]>([])
    var records: [LogRecord] { stored.withLock { $0 } }

    func write(_ record: LogRecord) { stored.withLock { $0.append(record) } }
    func synchronize() {}
}
#endif
