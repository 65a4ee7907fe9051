// Tracks events and adds writes to an outbox, in a service group that ends on SIGTERM, and prints “ready” once all
// are added. Each arrival is a line of the file `arrived`; see SignalTests.
//
// Nothing arrives before the signal, because the servers are unavailable until then.

#if ServiceLifecycle && SQLite
import Foundation
import KeelAnalytics
import KeelCore
import KeelServiceLifecycle
import KeelStorage
import KeelStorageSQLite
import KeelSync
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals

let arguments = CommandLine.arguments
guard arguments.count == 3, let count = Int(arguments[2]) else {
    FileHandle.standardError.write(Data("usage: KeelLifecycleProgram <folder> <count>\n".utf8))
    exit(2)
}
let folder = URL(fileURLWithPath: arguments[1])
let arrived = folder.appending(path: "arrived")
try Data().write(to: arrived)
let file = try FileHandle(forWritingTo: arrived)
let isEnding = Mutex(false)

/// A sender that sends nothing before the signal.
struct FileSender: OutboxSender {
    func send(_ delivery: OutboxDelivery) async -> OutboxVerdict {
        guard isEnding.withLock({ $0 }) else {
            // Sleeps until the run is canceled.
            try? await Task.sleep(for: .seconds(3600))
            return .failed(reason: "The server is away.")
        }
        file.write(Data("write \(String(decoding: delivery.write.body, as: UTF8.self))\n".utf8))
        return .accepted()
    }
}

struct Producer: Service {
    let analytics: AnalyticsService
    let outbox: Outbox
    let count: Int

    func run() async throws {
        try await withGracefulShutdownHandler {
            for number in 0..<count {
                let parameters: [String: AnalyticsValue] = ["number": .integer(Int64(number))]
                try analytics.record(AnalyticsEvent(name: "a", parameters: parameters))
                let body = Array("\(number)".utf8)
                try await outbox.enqueue(OutboxWrite(key: "k\(number)", kind: "PUT", body: body))
            }
            FileHandle.standardOutput.write(Data("ready\n".utf8))
            try await gracefulShutdown()
        } onGracefulShutdown: {
            isEnding.withLock { $0 = true }
        }
    }
}

var configuration = AnalyticsConfiguration()
configuration.defaultConsent = .granted
configuration.add(
    HandlerDestination("file", limits: BatchLimits(records: 100, bytes: .max)) { batch in
        guard isEnding.withLock({ $0 }) else {
            return .postponed(DeliveryProblem("The server is away."), notBefore: nil)
        }
        for record in batch {
            guard case .integer(let number)? = record.properties["number"] else { continue }
            file.write(Data("event \(number)\n".utf8))
        }
        return .delivered
    }
)
let analytics = try AnalyticsService(
    at: folder.appending(path: "analytics"),
    configuration: configuration
)
let storage = StorageClient(
    try SQLiteStorageAdapter(at: .file(folder.appending(path: "store.sqlite").path))
)
let outbox = Outbox(storage)
// Generous, for busy machines: a flush that is cut short leaves the rest to the next launch.
let flushTimeout = Duration.seconds(100)
let group = ServiceGroup(
    configuration: ServiceGroupConfiguration(
        services: [
            .init(service: analytics.service(flushTimeout: flushTimeout)),
            .init(service: outbox.service(sending: FileSender(), flushTimeout: flushTimeout)),
            .init(service: Producer(analytics: analytics, outbox: outbox, count: count)),
        ],
        gracefulShutdownSignals: [.sigterm],
        logger: Logger(label: "lifecycle") { _ in SwiftLogNoOpLogHandler() }
    )
)
try await group.run()
#endif
