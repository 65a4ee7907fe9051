extension Timestamp {
    /// Returns the time advanced by a duration, which may be negative, clamped to the range of timestamps.
    package func advanced(by duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let span = Int128(seconds) * 1_000_000 + Int128(attoseconds / 1_000_000_000_000)
        return Timestamp(microseconds: Int64(clamping: Int128(microseconds) + span))
    }
}
