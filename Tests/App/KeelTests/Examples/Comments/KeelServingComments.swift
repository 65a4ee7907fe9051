import Foundation
import HTTPTypes
import Keel
import KeelServiceLifecycle
import KeelServing
import KeelTestKit
import Testing

#if ServiceLifecycle
import ServiceLifecycle
#endif

#if SQLite
/// Examples from the comments of the modules of servers; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func storageServer(_ file: SQLiteStorageLocation) async throws {
        let server = StorageServer(adapter: try SQLiteStorageAdapter(at: file))
        _ = server
    }

    static func authentication(
        _ adapter: some StorageAdapter,
        _ verify: @escaping @Sendable (String) async -> String?
    ) {
        var configuration = StorageServer.Configuration()
        configuration.authenticate = { head async throws(StorageError) -> StoragePrincipal? in
            guard let token = head.headerFields[.authorization],
                let user = await verify(token)
            else { throw StorageError(.unauthenticated, "sign in first") }
            return StoragePrincipal(id: user)
        }
        let server = StorageServer(adapter: adapter, configuration: configuration)
        _ = server
    }
}
#endif

#if ServiceLifecycle
// KeelServiceLifecycle
extension CommentExamples {
    static func lifecycleService(_ reporter: Reporter) async throws {
        let reports = LifecycleService("reports") {
            try await reporter.run()
        } finish: {
            await reporter.writeLastReport()
        }
        _ = reports
    }
}
#endif
