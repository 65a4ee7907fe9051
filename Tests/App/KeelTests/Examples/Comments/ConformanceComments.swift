import Foundation
import Keel
import KeelAnalytics
import KeelConformance
import KeelTestKit
import Testing

private typealias MyCacheTier = InMemoryCacheTier
private typealias MyFileStoreAdapter = InMemoryFileStoreAdapter
private typealias MySecretStoreAdapter = InMemorySecretStoreAdapter
private typealias MyStorageAdapter = InMemoryStorageAdapter

extension InMemoryFileStoreAdapter {
    fileprivate convenience init(bucket: String) { self.init() }
}

extension InMemorySecretStoreAdapter {
    fileprivate convenience init(account: String) { self.init() }
}

extension InMemoryStorageAdapter {
    fileprivate static let capabilities = InMemoryStorageAdapter().capabilities
}

struct CheckedNote: Codable, Identifiable, Equatable, Sendable {
    var id: String
    var text: String
    var stars: Int
}

private typealias MyNotes = CollectionDataSource<CheckedNote>

extension CollectionDataSource where Element == CheckedNote {
    fileprivate init(folder: String) {
        self.init(StorageClient(InMemoryStorageAdapter()).collection("notes", as: CheckedNote.self))
    }
}

/// A vendor's server that accepts everything or nothing.
private struct VendorServer {
    let transport: ScriptedAnalyticsDestination

    init(_ condition: AnalyticsDestinationSubject.Condition) {
        let fault: AnalyticsFault? = condition == .healthy ? nil : .unavailable()
        transport = ScriptedAnalyticsDestination(
            limits: BatchLimits(records: 100, bytes: 8000),
            clock: TestClock(),
            faults: [fault]
        )
    }

    var receivedIDs: [String] { transport.received.map(\.id) }
}

private struct VendorDestination: AnalyticsDestination {
    let transport: ScriptedAnalyticsDestination

    init(key: String, transport: ScriptedAnalyticsDestination) { self.transport = transport }

    var name: String { transport.name }
    var guarantee: DeliveryGuarantee { transport.guarantee }
    var limits: BatchLimits { transport.limits }

    func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        try transport.size(of: record)
    }

    func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        await transport.deliver(batch)
    }
}

@Suite("Comments: checks of analytics", .timeLimit(.minutes(5)))
struct AnalyticsCheckComments {
    static let subject = AnalyticsDestinationSubject(conditions: [.healthy, .unavailable]) {
        condition in
        let server = VendorServer(condition)
        return .init(VendorDestination(key: "test", transport: server.transport)) {
            server.receivedIDs
        }
    }

    @Test(arguments: AnalyticsDestinationCheck.applicable(to: [.healthy, .unavailable]))
    func keepsItsPromises(_ check: AnalyticsDestinationCheck) async throws {
        try await check.run(on: Self.subject)
    }
}

@Suite("Comments: checks of caches", .timeLimit(.minutes(5)))
struct CacheCheckComments {
    static func make() -> CacheTierSubject {
        let subject = CacheTierSubject(features: [.byteLimit]) { setting in
            MyCacheTier(byteLimit: setting.byteLimit ?? 64 << 20, clock: setting.clock)
        }
        return subject
    }

    @Test(arguments: CacheTierCheck.applicable(to: [.byteLimit]))
    func keepsItsPromises(_ check: CacheTierCheck) async throws {
        try await check.run(
            on: CacheTierSubject(features: [.byteLimit]) { setting in
                MyCacheTier(byteLimit: setting.byteLimit ?? 64 << 20, clock: setting.clock)
            }
        )
    }
}

@Suite("Comments: checks of files", .timeLimit(.minutes(5)))
struct FileCheckComments {
    static func make() -> FileStoreSubject {
        let subject = FileStoreSubject(features: [.attributes]) { name in
            MyFileStoreAdapter(bucket: name)
        }
        return subject
    }

    @Test(arguments: FileStoreCheck.applicable(to: [.attributes]))
    func keepsItsPromises(_ check: FileStoreCheck) async throws {
        try await check.run(
            on: FileStoreSubject(features: [.attributes]) { name in
                MyFileStoreAdapter(bucket: name)
            }
        )
    }
}

@Suite("Comments: checks of locations", .timeLimit(.minutes(5)))
struct LocationCheckComments {
    static let subject = LocationAdapterSubject(features: [.searches, .details]) { setting in
        let adapter = ScriptedLocationAdapter(permission: setting.permission)
        return .init(adapter, userCount: { adapter.monitorCount }) { feed in
            Self.play(feed, on: adapter)
        }
    }

    @Test(arguments: LocationAdapterCheck.applicable(to: [.searches, .details]))
    func keepsItsPromises(_ check: LocationAdapterCheck) async throws {
        try await check.run(on: Self.subject)
    }

    private static func play(
        _ feed: LocationAdapterSubject.Feed,
        on adapter: ScriptedLocationAdapter
    ) {
        switch feed {
        case .fix(let fix): adapter.send(.fix(fix))
        case .noFix: adapter.send(.searching)
        case .breakConnection: adapter.setFailure(LocationError(.disconnected, "It broke."))
        case .restoreConnection: adapter.setFailure(nil)
        case .decide(let permission): adapter.setPermission(permission)
        }
    }
}

@Suite("Comments: checks of secrets", .timeLimit(.minutes(5)))
struct SecretCheckComments {
    static func make() -> SecretStoreSubject {
        let subject = SecretStoreSubject(features: [.writable, .anyBytes, .anyNames]) { setting in
            MySecretStoreAdapter(account: setting.name)
        }
        return subject
    }

    @Test(arguments: SecretStoreCheck.applicable(to: [.writable]))
    func keepsItsPromises(_ check: SecretStoreCheck) async throws {
        try await check.run(
            on: SecretStoreSubject(features: [.writable]) { setting in
                MySecretStoreAdapter(account: setting.name)
            }
        )
    }
}

@Suite("Comments: checks of storage", .timeLimit(.minutes(10)))
struct StorageCheckComments {
    @Test(arguments: StorageAdapterCheck.applicable(to: MyStorageAdapter.capabilities))
    func keepsItsPromises(_ check: StorageAdapterCheck) async throws {
        try await check.run(on: MyStorageAdapter())
    }

    @Test func agrees() async throws {
        try await DifferentialFuzz().run(InMemoryStorageAdapter(), against: MyStorageAdapter())
    }
}

@Suite("Comments: checks of data sources", .timeLimit(.minutes(5)))
struct LocalDataSourceCheckComments {
    typealias Note = CheckedNote

    private static func temporaryFolder() -> String { "notes" }

    let subject = make()

    private static func make() -> LocalDataSourceSubject<Note> {
        let subject = LocalDataSourceSubject(
            make: { id, number in Note(id: id, text: "note \(number)", stars: number % 5) },
            conditions: [#Predicate { $0.stars >= 3 }],
            open: { MyNotes(folder: temporaryFolder()) }
        )
        return subject
    }

    @Test(arguments: LocalDataSourceCheck<Note>.all)
    func keepsItsPromises(_ check: LocalDataSourceCheck<Note>) async throws {
        try await check.run(on: subject)
    }
}
