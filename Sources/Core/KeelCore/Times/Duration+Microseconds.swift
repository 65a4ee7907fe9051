extension Duration {
    /// The length in whole microseconds, clamped to the range of the type.
    @inlinable
    package var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return Int64(
            clamping: Int128(seconds) * 1_000_000 + Int128(attoseconds / 1_000_000_000_000)
        )
    }
}
