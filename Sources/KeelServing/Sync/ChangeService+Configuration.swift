extension ChangeService {
    /// The limits of a change service, and what it takes from outside.
    package struct Configuration: Sendable {
        /// The most streams and waiting pages at a time; further streams are refused with 429.
        package var mostListeners = 10_000
        /// At most this much time passes on a stream without a line.
        package var heartbeat = Duration.seconds(15)
        /// How many bytes may wait for a reader before its stream is ended.
        package var mostBufferedBytes = 1 << 20
        /// About how many bytes may wait for all readers together before the slowest are cut off.
        ///
        /// What several readers wait for is counted once. As many bytes may be on their way to readers at a
        /// time; beyond that, those that catch up read small pages.
        package var mostWaitingBytes = 256 << 20
        /// How many bytes of documents a page brings, unless a single one has more.
        package var mostPageBytes = 8 << 20
        /// How many bytes of documents a stream reads at once, unless a single one has more.
        ///
        /// Each listener may hold so many, and there are thousands.
        package var streamPageBytes = 1 << 20
        /// How many bytes of documents a stream reads at once while too much is on its way to readers.
        package var smallPageBytes = 16 << 10
        /// The clock of heartbeats, of pauses and of pages that wait.
        package var clock: any Clock<Duration> = ContinuousClock()
        /// Makes the name of a store's data, once in its life.
        package var makeEpoch: @Sendable () -> String = { StoreEpoch.random() }

        /// Creates a configuration with the usual limits.
        package init() {}
    }
}
