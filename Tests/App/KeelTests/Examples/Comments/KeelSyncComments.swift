import Foundation
import HTTPTypes
import Keel
import KeelNetworkStatus
import KeelSync
import KeelTestKit
import Testing

/// Examples from the comments of KeelSync; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func outbox(
        _ storage: StorageClient,
        _ sender: some OutboxSender,
        _ network: NetworkStatus
    ) async throws {
        let outbox = Outbox(storage)
        let receipt = try await outbox.enqueue(OutboxWrite(key: "favourites/42", kind: "PUT"))

        // Once, for as long as the app runs:
        try await outbox.run(sending: sender, whileOnline: network.onlineStates)
        _ = outbox
        _ = receipt
    }

    static func outboxAtSignOut(_ session: AuthSession<BearerCredentials>, _ outbox: Outbox) {
        session.onSignOut("outbox") { reason, user in
            if reason == .requested { try await outbox.discardAll(of: user) }
        }
    }

    static func outboxReceipt(_ outbox: Outbox, _ write: OutboxWrite) async throws {
        let receipt = try await outbox.enqueue(write)  // on disk: the user may go on
        let reply = try await receipt.server()  // taken by the server
        _ = receipt
        _ = reply
    }
}
