extension Timestamp {
    /// This time and so much more, or less where it is negative, within what a timestamp can hold.
    package func advanced(by duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let span = Int128(seconds) * 1_000_000 + Int128(attoseconds / 1_000_000_000_000)
        return Timestamp(microseconds: Int64(clamping: Int128(microseconds) + span))
    }
}
