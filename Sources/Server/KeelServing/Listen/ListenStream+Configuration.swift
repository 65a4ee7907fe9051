internal import KeelStorage
internal import KeelStorageAdapting

extension ListenStream {
    struct Configuration: Sendable {
        /// The interval at which a stream checks whether it has been quiet.
        ///
        /// A quiet client receives a message after one to two intervals. The SDK for Node.js ends a stream that is
        /// quiet for two minutes.
        var heartbeat = Duration.seconds(30)
        /// The maximum number of changes of a resumption; with more, a target is read again.
        var mostRepeatedChanges = 10_000
        /// The approximate maximum size of the documents of a target that is not read page by page, or of a resumption,
        /// in bytes.
        ///
        /// A query without a limit is read page by page, if the store can read one state several times.
        var mostBytesAtOnce = 64 << 20
        /// The approximate maximum number of documents that a stream remembers; see ``ListenSession/mostNames``.
        var mostNames = 100_000
        /// The approximate size of a page of a target's documents, in bytes.
        var pageBytes = 4 << 20
        /// The approximate size of a page if the store scans the collection for it, in bytes.
        var scannedPageBytes = 16 << 20
        var maximumHoldTime = Duration.seconds(600)
        /// The maximum duration of a read of a page of a query, or of ten or more documents.
        ///
        /// A read that takes longer is repeated once, and then its target ends. If reading the changes since a token
        /// takes longer, the target is read anew.
        var readTimeout = Duration.seconds(60)
        /// The mean pause before a stream ends with `UNAVAILABLE`; it varies by half.
        ///
        /// The SDKs for the web and iOS reset their own pauses with every message of a stream, and would reconnect at
        /// once.
        ///
        /// Source: firebase/firebase-js-sdk, packages/firestore/src/remote/persistent_stream.ts,
        /// `PersistentListenStream.onMessage`.
        var pauseBeforeEnd = Duration.seconds(2)
        var clock: any Clock<Duration> = ContinuousClock()
        var checkIndexes: (@Sendable (ReadOperation) throws(StorageError) -> Void)?
        var principal: StoragePrincipal?
        var joinsCurrent = false
        var caller: CallerID?
        /// Returns whether the principal may listen to a target; nil if it may listen to all.
        ///
        /// Called when a target is added, before changes that concern the stream are sent, and when a permission ends.
        var permission:
            (@Sendable (ListenTarget.Content, StoragePrincipal?) async -> ListenPermission)?
    }
}
