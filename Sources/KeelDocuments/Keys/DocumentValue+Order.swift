extension DocumentValue {
    /// Whether this value comes before another in the order of queries.
    ///
    /// Null, then booleans, NaN, numbers, timestamps, strings, bytes, references, geopoints, arrays
    /// and maps. Numbers compare exactly, whatever their type; text by the bytes of its UTF-8;
    /// references segment by segment; arrays element by element; maps by name, then value, in the
    /// order of names.
    public func precedes(_ other: DocumentValue) -> Bool {
        IndexKey.key(self).lexicographicallyPrecedes(IndexKey.key(other))
    }

    /// Whether this value comes after another in the order of queries.
    package func comesAfter(_ other: DocumentValue) -> Bool { other.precedes(self) }

    /// Whether queries take this value and another for the same: 3 and 3.0, 0.0 and -0.0.
    public func isEquivalent(to other: DocumentValue) -> Bool {
        IndexKey.key(self) == IndexKey.key(other)
    }
}
