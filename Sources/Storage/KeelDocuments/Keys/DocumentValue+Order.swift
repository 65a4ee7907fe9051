extension DocumentValue {
    /// Returns whether this value precedes another in the order of queries.
    ///
    /// The order of kinds is null, booleans, NaN, numbers, timestamps, strings, bytes, references, geopoints, arrays,
    /// maps. Numbers compare exactly, whatever their type; strings by their UTF-8 bytes; references segment by segment;
    /// arrays element by element; maps by name, then value, in the order of names.
    public func precedes(_ other: DocumentValue) -> Bool {
        IndexKey.key(self).lexicographicallyPrecedes(IndexKey.key(other))
    }

    package func comesAfter(_ other: DocumentValue) -> Bool { other.precedes(self) }

    /// Returns whether queries treat two values as equal, such as 3 and 3.0, or 0.0 and -0.0.
    public func isEquivalent(to other: DocumentValue) -> Bool {
        IndexKey.key(self) == IndexKey.key(other)
    }
}
