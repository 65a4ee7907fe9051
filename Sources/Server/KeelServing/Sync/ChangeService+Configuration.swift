internal import KeelStorage
internal import KeelStorageAdapting

extension ChangeService {
    /// The limits and dependencies of a change service.
    package struct Configuration: Sendable {
        /// The maximum number of streams and waiting page requests; further streams are refused with status 429.
        package var maximumListeners = 10_000
        /// The maximum time between two lines of a stream.
        package var heartbeat = Duration.seconds(15)
        /// The maximum backlog of a stream, in bytes, before it is ended.
        package var mostBufferedBytes = 1 << 20
        /// The approximate maximum backlog of all streams together, in bytes, before the slowest are cut off.
        ///
        /// Events shared by several streams are counted once. Up to the same number of bytes may be in transmission to
        /// clients; above it, listeners that are catching up read small pages.
        package var maximumBacklogBytes = 256 << 20
        /// The maximum size of a page, in bytes of documents, unless a single document is larger.
        package var mostPageBytes = 8 << 20
        /// The maximum size of one read of a stream, in bytes of documents, unless a single document is larger.
        ///
        /// Each of thousands of listeners may hold as much.
        package var streamPageBytes = 1 << 20
        /// The maximum size of one read of a stream while too much is in transmission to clients.
        package var smallPageBytes = 16 << 10
        /// The clock of heartbeats, delays and waiting page requests.
        package var clock: any Clock<Duration> = ContinuousClock()
        /// Returns a new epoch for a store's data, once in its life.
        package var makeEpoch: @Sendable () -> String = { WriteBatch.randomID() }

        /// Creates a configuration with default limits.
        package init() {}
    }
}
