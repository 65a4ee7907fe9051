internal import KeelHTTP
internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

/// The events of a listener, produced as they are read.
///
/// A listener that is behind reads no faster than its client. Releasing the stream removes the listener.
final class ChangeStream: Sendable {
    private let hub: ChangeHub
    private let listener: ChangeListener
    private let id: ChangeHub.ID
    private let beginning = Mutex<[UInt8]?>(nil)
    private let isStalled = Mutex(false)
    /// The last events that the client has taken, and is usually still receiving.
    private let taken = Mutex<BufferedBytes?>(nil)

    init(hub: ChangeHub, query: ChangeQuery) throws(ChangeHub.Refusal) {
        self.hub = hub
        listener = ChangeListener(
            interest: ChangeInterest(
                scope: query.scope,
                database: query.database,
                tellsContent: query.tellsContent,
                clients: query.clients
            ),
            caller: query.caller,
            after: query.cursor,
            maximumBytes: hub.configuration.mostBufferedBytes
        )
        id = try hub.add(listener)
    }

    deinit { hub.remove(id) }

    /// Reads the first page, before the reply has a status.
    ///
    /// - Throws: Errors of the store; an expired cursor is reported on the stream.
    func begin() async throws(StorageError) {
        let bytes = try await events(isFirst: true)
        beginning.withLock { $0 = bytes }
    }

    /// Returns the next events; nil at the end of the stream.
    ///
    /// - Throws: `TransportError/Code/cancelled` if the task is canceled.
    func next() async throws(TransportError) -> ArraySlice<UInt8>? {
        taken.withLock { $0 = nil }
        guard let bytes = try await nextBytes() else { return nil }
        let events = BufferedBytes(bytes, in: hub.sending)
        taken.withLock { $0 = events }
        return bytes[...]
    }

    private func nextBytes() async throws(TransportError) -> [UInt8]? {
        if let bytes = beginning.withLock({ $0.take() }) { return bytes }
        while true {
            guard !Task.isCancelled else {
                listener.end()
                throw TransportError(.cancelled, phase: .readBody)
            }
            switch listener.step() {
            case .send(let bytes): return bytes
            case .wait: if let bytes = await listener.wait() { return bytes }
            case .end:
                hub.remove(id)
                return nil
            case .readPage:
                do throws(StorageError) {
                    if let bytes = try await events() { return bytes }
                } catch {
                    // The client reconnects and then receives a status.
                    listener.end()
                }
            }
        }
    }

    private func events(isFirst: Bool = false) async throws(StorageError) -> [UInt8]? {
        hub.attend(listener)
        let told = listener.told
        var request = ChangeRequest(
            after: told,
            scope: listener.interest.scope,
            limit: 500,
            maximumBytes: hub.pageBytes
        )
        request.clients = listener.interest.clients
        // A replica may lag behind the shared reader, so an immediate read is useless.
        if isStalled.withLock({ $0 }) { request.waitTimeout = .seconds(1) }
        let page: ChangePage
        do throws(StorageError) {
            page = try await hub.adapter.changes(request)
        } catch {
            guard error.code == .cursorExpired else { throw error }
            listener.end()
            return ChangeMessages.reset(error)
        }
        var bytes: [UInt8] = []
        if listener.interest.tellsContent {
            for change in ChangeMessages.visible(page.changes) {
                bytes += ChangeMessages.event(
                    change,
                    page.origins[change.path],
                    database: listener.interest.database
                )
            }
        }
        listener.tell(page.next)
        let isLive =
            page.isCaughtUp
            && hub.join(listener, at: page.next, time: page.time, isStream: true)
        isStalled.withLock { $0 = !isLive && told == page.next }
        guard isFirst || !bytes.isEmpty || told != page.next else { return nil }
        return bytes + ChangeMessages.mark(page, for: listener.interest, epoch: hub.epoch.known)
    }
}
