/// Factories for field changes.
///
/// ```swift
/// [.set("name", to: "Ada"), .increment("visits", by: 1), .remove("draft")]
/// ```
extension FieldChange {
    /// Sets a field to a value.
    public static func set(_ field: FieldPath, to value: DocumentValue) -> FieldChange {
        FieldChange(field, .set(value))
    }

    /// Sets a field to an encoded value.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed`` if the value cannot be encoded.
    @_disfavoredOverload
    public static func set(
        _ field: FieldPath,
        to value: some Encodable,
        encoder: DocumentEncoder = DocumentEncoder()
    ) throws(StorageError) -> FieldChange {
        FieldChange(field, .set(try encoder.encodeValue(value)))
    }

    /// Removes a field; succeeds if it is missing.
    public static func remove(_ field: FieldPath) -> FieldChange { FieldChange(field, .remove) }

    /// Sets a field to the clock time of the commit, truncated to milliseconds.
    public static func serverTimestamp(_ field: FieldPath) -> FieldChange {
        FieldChange(field, .transform(.serverTimestamp))
    }

    /// Adds 1 to a number; a field without a number is set to 1.
    public static func increment(_ field: FieldPath) -> FieldChange { increment(field, by: 1) }

    /// Adds an integer, clamped to `Int64`, to a number; a field without a number is set to it.
    public static func increment(
        _ field: FieldPath,
        by amount: some FixedWidthInteger
    ) -> FieldChange {
        FieldChange(field, .transform(.increment(.integer(Int64(clamping: amount)))))
    }

    /// Adds a double to a number; a field without a number is set to it.
    public static func increment(_ field: FieldPath, by amount: Double) -> FieldChange {
        FieldChange(field, .transform(.increment(.double(amount))))
    }

    /// Raises a number to at least an integer, clamped to `Int64`; a field without a number is set to it.
    public static func maximum(_ field: FieldPath, _ bound: some FixedWidthInteger) -> FieldChange {
        FieldChange(field, .transform(.maximum(.integer(Int64(clamping: bound)))))
    }

    /// Raises a number to at least a double; a field without a number is set to it.
    public static func maximum(_ field: FieldPath, _ bound: Double) -> FieldChange {
        FieldChange(field, .transform(.maximum(.double(bound))))
    }

    /// Lowers a number to at most an integer, clamped to `Int64`; a field without a number is set to it.
    public static func minimum(_ field: FieldPath, _ bound: some FixedWidthInteger) -> FieldChange {
        FieldChange(field, .transform(.minimum(.integer(Int64(clamping: bound)))))
    }

    /// Lowers a number to at most a double; a field without a number is set to it.
    public static func minimum(_ field: FieldPath, _ bound: Double) -> FieldChange {
        FieldChange(field, .transform(.minimum(.double(bound))))
    }

    /// Appends the values without an equivalent in an array; a field without an array is set to a new one.
    public static func arrayUnion(_ field: FieldPath, _ values: [DocumentValue]) -> FieldChange {
        FieldChange(field, .transform(.arrayUnion(values)))
    }

    /// Appends the encoded values without an equivalent in an array; a field without an array is set to a new one.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed`` if a value cannot be encoded.
    @_disfavoredOverload
    public static func arrayUnion<Element: Encodable>(
        _ field: FieldPath,
        _ values: [Element],
        encoder: DocumentEncoder = DocumentEncoder()
    ) throws(StorageError) -> FieldChange {
        arrayUnion(field, try encoder.encodeValues(values))
    }

    /// Removes every element of an array that is equivalent to one of the values; without an array, the field is set to
    /// an empty one.
    public static func arrayRemove(_ field: FieldPath, _ values: [DocumentValue]) -> FieldChange {
        FieldChange(field, .transform(.arrayRemove(values)))
    }

    /// Removes every element of an array that is equivalent to one of the encoded values; without an array, the field
    /// is set to an empty one.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed`` if a value cannot be encoded.
    @_disfavoredOverload
    public static func arrayRemove<Element: Encodable>(
        _ field: FieldPath,
        _ values: [Element],
        encoder: DocumentEncoder = DocumentEncoder()
    ) throws(StorageError) -> FieldChange {
        arrayRemove(field, try encoder.encodeValues(values))
    }
}

extension DocumentEncoder {
    fileprivate func encodeValues<Element: Encodable>(
        _ elements: [Element]
    ) throws(StorageError) -> [DocumentValue] {
        var values: [DocumentValue] = []
        for element in elements { values.append(try encodeValue(element)) }
        return values
    }
}
