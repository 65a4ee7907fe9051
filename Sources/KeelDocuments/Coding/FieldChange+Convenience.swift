/// Changes in the form in which calls are written:
///
/// ```swift
/// [.set("name", to: "Ada"), .increment("visits", by: 1), .remove("draft")]
/// ```
extension FieldChange {
    /// Sets a field to a value.
    public static func set(_ field: FieldPath, to value: DocumentValue) -> FieldChange {
        FieldChange(field, .set(value))
    }

    /// Sets a field to a value that is encoded.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed``.
    @_disfavoredOverload
    public static func set(
        _ field: FieldPath,
        to value: some Encodable,
        encoder: DocumentEncoder = DocumentEncoder()
    ) throws(StorageError) -> FieldChange {
        FieldChange(field, .set(try encoder.encodeValue(value)))
    }

    /// Removes a field; a missing one is no error.
    public static func remove(_ field: FieldPath) -> FieldChange { FieldChange(field, .remove) }

    /// Sets a field to the time of the commit.
    public static func serverTimestamp(_ field: FieldPath) -> FieldChange {
        FieldChange(field, .transform(.serverTimestamp))
    }

    /// Adds one to a number; a field without one gets 1.
    public static func increment(_ field: FieldPath) -> FieldChange { increment(field, by: 1) }

    /// Adds to a number; a field without one gets the amount.
    public static func increment(
        _ field: FieldPath,
        by amount: some FixedWidthInteger
    ) -> FieldChange {
        FieldChange(field, .transform(.increment(.integer(Int64(clamping: amount)))))
    }

    /// Adds to a number, which becomes a double; a field without one gets the amount.
    public static func increment(_ field: FieldPath, by amount: Double) -> FieldChange {
        FieldChange(field, .transform(.increment(.double(amount))))
    }

    /// Raises a number to at least this integer.
    public static func maximum(_ field: FieldPath, _ bound: some FixedWidthInteger) -> FieldChange {
        FieldChange(field, .transform(.maximum(.integer(Int64(clamping: bound)))))
    }

    /// Raises a number to at least this double.
    public static func maximum(_ field: FieldPath, _ bound: Double) -> FieldChange {
        FieldChange(field, .transform(.maximum(.double(bound))))
    }

    /// Lowers a number to at most this integer.
    public static func minimum(_ field: FieldPath, _ bound: some FixedWidthInteger) -> FieldChange {
        FieldChange(field, .transform(.minimum(.integer(Int64(clamping: bound)))))
    }

    /// Lowers a number to at most this double.
    public static func minimum(_ field: FieldPath, _ bound: Double) -> FieldChange {
        FieldChange(field, .transform(.minimum(.double(bound))))
    }

    /// Appends those values that an array does not have yet.
    public static func arrayUnion(_ field: FieldPath, _ values: [DocumentValue]) -> FieldChange {
        FieldChange(field, .transform(.arrayUnion(values)))
    }

    /// Appends those values, encoded, that an array does not have yet.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed``.
    @_disfavoredOverload
    public static func arrayUnion<Element: Encodable>(
        _ field: FieldPath,
        _ values: [Element],
        encoder: DocumentEncoder = DocumentEncoder()
    ) throws(StorageError) -> FieldChange {
        arrayUnion(field, try encoder.encodeValues(values))
    }

    /// Removes every element that is one of these values from an array.
    public static func arrayRemove(_ field: FieldPath, _ values: [DocumentValue]) -> FieldChange {
        FieldChange(field, .transform(.arrayRemove(values)))
    }

    /// Removes every element that is one of these values, encoded, from an array.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed``.
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
