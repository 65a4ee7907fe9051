import Foundation
import HTTPTypes
import Keel
import KeelTestKit

#if ServiceLifecycle
import KeelAnalytics
import KeelLoggingOTLP
import KeelServiceLifecycle
import Logging
import ServiceLifecycle
import UnixSignals
#endif

/// Examples from the modules' articles, in functions that supply their context.
///
/// They are compiled but not run: most of them listen until their task ends, or use the machine's
/// own stores. The guides and the modules' tests run the same features.
enum ArticleExamples {
    struct Note: Codable, Identifiable, Sendable {
        var id: String
        var text: String
    }

    struct Menu: Decodable, Sendable {
        var id: String
    }

    struct GetMenu: Endpoint {
        typealias Response = Menu
        var path: EndpointPath { "/menu" }
    }

    struct Map {
        func move(to place: LocationCoordinate) {}
    }

    static func show(_ what: Any) {}
    static func show(_ response: NetworkResponse, markedAsOld reason: HTTPCacheResult.StaleReason) {
    }
    static func show(_ fix: LocationFix, note: String) {}
    static func clockIn() {}

    static func storage() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        let notes = storage.collection("notes", as: Note.self)
        try await notes.save(Note(id: "1", text: "Hello"))
        for try await snapshot in notes.listen() { print(snapshot.items) }
    }

    static func sync(_ storage: StorageClient, _ write: OutboxWrite) async throws {
        let outbox = Outbox(storage)
        let receipt = try await outbox.enqueue(write) { batch in
            try batch.set("favourites/42", ["since": .timestamp(.now())])
        }
        // The change and its write are on disk, together. Wait only if you need the reply:
        let reply = try await receipt.server()
        show(reply)
    }

    static func files(_ jpeg: Data, _ id: String) async throws {
        let files = FileStore(try LocalFileStoreAdapter(folder: "/var/lib/notes/files"))
        let photo: FileStorePath = "photos/\(id).jpg"
        try await files.write(jpeg, to: photo)
        let data = try await files.read(photo)
        for try await file in files.files(in: "photos") { print(file.path, file.size) }
        show(data)
    }

    static func changed(_ old: [UInt8]) -> [UInt8] { old }

    static func changingFile(_ files: FileStore) async throws {
        let reading = try await files.open("list.json")
        let old = try await reading.content.collect(upTo: 1 << 20)
        try await files.write(
            FileContent(changed(old)),
            to: "list.json",
            options: FileWriteOptions(condition: .version(reading.metadata.version))
        )
    }

    static func location(_ map: Map) async throws {
        let location = LocationService.platformDefault()
        guard try await location.requestPermission().isGranted else { return }

        // Once, accurate to 50 m, within ten seconds.
        let here = try await location.currentLocation(accuracy: 50, timeout: .seconds(10))

        // Continuously, every ten metres.
        for try await fix in location.fixes(minimumDistance: 10) {
            map.move(to: fix.coordinate)
        }
        show(here)
    }

    static func locationStates(_ location: LocationService) async {
        for await state in location.states {
            switch state {
            case .searching: show("Searching…")
            case .fixed(let fix): show(fix)
            case .stale(let fix, let age): show(fix, note: "as of \(age) ago")
            case .lost(let since, let reason): show("No position since \(since): \(reason.advice)")
            }
        }
    }

    static func regions(_ location: LocationService, _ center: LocationCoordinate) async throws {
        let office = try LocationRegion(id: "office", center: center, radius: 150)
        for try await event in try location.regionEvents([office]) {
            if event.kind == .entered { clockIn() }
        }
    }

    static func track() throws {
        let coordinate = try LocationCoordinate(latitude: 59.3293, longitude: 18.0686)
        let harbour = try LocationFix(coordinate, time: .now)
        let location = LocationService(ScriptedLocationAdapter(.fixes([harbour])))
        show(location)
    }

    static func caching(_ url: URL, _ transport: some HTTPTransport) async throws {
        let cache = HTTPCache(tier: InMemoryCacheTier())
        var configuration = NetworkClient.Configuration(baseURL: url)
        configuration.cacheResponses(in: cache)
        let client = NetworkClient(configuration, transport: transport)

        let response = try await client.response(to: GetMenu()).get()
        switch response.cacheResult {
        case .fresh, .revalidated: show(response)
        case .stale(let reason): show(response, markedAsOld: reason)
        case .network, .missing, nil: show(response)
        }
        for try await menu in client.cachedThenFresh(GetMenu()) { show(menu.value) }
    }

    static func layers(_ configuration: inout NetworkClient.Configuration) {
        configuration.middleware = [CoalescingMiddleware(), IdempotencyKeyMiddleware()]
        configuration.attemptMiddleware = [
            CircuitBreakerMiddleware(), HedgingMiddleware(), ConcurrencyLimitMiddleware(6),
        ]
    }

    #if ServiceLifecycle
    static func services(
        _ transport: some HTTPTransport,
        _ exporter: OTLPLogExporter,
        _ analytics: AnalyticsService,
        _ outbox: Outbox,
        _ sender: some OutboxSender,
        _ server: some Service,
        _ logger: Logger
    ) async throws {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: transport.service()),
                    .init(service: exporter.service()),
                    .init(service: analytics.service()),
                    .init(service: outbox.service(sending: sender)),
                    .init(service: server),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
        try await group.run()
    }
    #endif

    #if Crypto
    static func security(_ folder: URL, _ secrets: SecretStore, _ note: Data) async throws {
        let key = SecretStoreKeySource(secrets)
        let file = KeysetFile(at: folder.appending(path: "keys.json"), under: key)
        let security = SecurityService(keys: try await file.ring(creating: .aes256GCM))
        let sealed = try security.encrypt(note, associatedData: Data("notes/1".utf8))
        let opened = try security.decrypt(sealed, associatedData: Data("notes/1".utf8))
        show(opened)
    }

    static func encryptedFiles(
        _ folder: URL,
        _ source: some KeyEncryptionKeySource,
        _ report: Data
    ) async throws {
        let keys = KeysetFile(at: folder.appending(path: "files.keyset"), under: source)
        let share = try LocalFileStoreAdapter(folder: "/mnt/share/files")
        let streams = try StreamingEncryption(keys: await keys.ring())
        let files = FileStore(try share.encrypted(with: streams))
        try await files.write(report, to: "reports/2026.pdf")
    }

    static func secrets() async throws {
        let file = EncryptedFileSecretStoreAdapter(
            folder: "/var/lib/notes",
            key: .source(SystemdCredentialSource(name: "notes-key"))
        )
        let secrets = try await SecretStore.platformDefault(
            service: "com.example.notes",
            fallback: file
        )
        try await secrets.save("s3cret", forKey: "api-token")
        let token = try await secrets.loadString(forKey: "api-token")
        show(token)
    }
    #endif
}
