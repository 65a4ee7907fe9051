/// One write to one document.
public struct DocumentWrite: Sendable, Hashable {
    /// The effect of a write.
    public enum Operation: Sendable, Hashable {
        /// Replaces or creates the document, then applies the transforms in order.
        case set(DocumentBody, transforms: [FieldTransform] = [])
        /// Changes some fields and keeps the others; creates a missing document if the condition permits.
        case update([FieldChange])
        /// Removes the document, if it exists.
        case delete
        /// Checks the condition without changing anything.
        case verify
        /// Stores exactly this document, including its times and revision, to copy it between stores.
        ///
        /// It is the only write that can lower a revision or a time.
        case replicate(Document)
    }

    /// The document to write.
    public var path: DocumentPath
    /// The change.
    public var operation: Operation
    /// The condition before the write; if it does not hold, the whole batch fails.
    public var condition: WriteCondition

    /// Creates a write.
    public init(
        _ path: DocumentPath,
        _ operation: Operation,
        if condition: WriteCondition = .none
    ) {
        self.path = path
        self.operation = operation
        self.condition = condition
    }
}

/// A condition on a document before a write to it.
public enum WriteCondition: Sendable, Hashable {
    /// No condition.
    case none
    /// The document exists; otherwise ``StorageError/Code/documentNotFound``.
    case exists
    /// The document does not exist; otherwise ``StorageError/Code/alreadyExists``.
    case isMissing
    /// The document is at this revision; otherwise ``StorageError/Code/conflict``.
    case revision(Revision)
    /// The document's update time is this time; otherwise ``StorageError/Code/conflict``.
    case updateTime(Timestamp)
}

/// A change to one field of a document.
public struct FieldChange: Sendable, Hashable {
    /// The change of the field.
    public enum Action: Sendable, Hashable {
        /// Sets the field to a value; creates the maps on the way, in place of other values.
        case set(DocumentValue)
        /// Removes the field.
        case remove
        /// Sets the field to a value computed from its current value.
        case transform(FieldTransform.Operation)
    }

    /// The field.
    public var field: FieldPath
    /// The change.
    public var action: Action

    /// Creates a change.
    public init(_ field: FieldPath, _ action: Action) {
        self.field = field
        self.action = action
    }
}

/// A field value that the store computes in the commit.
public struct FieldTransform: Sendable, Hashable {
    /// The computations, with the rules of Firestore's `DocumentTransform`.
    public enum Operation: Sendable, Hashable {
        /// Adds a number; a field without a number is set to the operand. Integers saturate instead of overflowing; the
        /// result is a double if either operand is.
        case increment(DocumentValue)
        /// Keeps the larger number, or NaN if either is; a field without a number is set to the operand.
        case maximum(DocumentValue)
        /// Keeps the smaller number, or NaN if either is; a field without a number is set to the operand.
        case minimum(DocumentValue)
        /// Appends the values without an equivalent in the array; a field without an array is set to a new one.
        case arrayUnion([DocumentValue])
        /// Removes every element that is equivalent to one of the values; a field without an array is set to an empty
        /// one.
        case arrayRemove([DocumentValue])
        /// Sets the clock time of the commit, truncated to milliseconds; the same throughout a batch.
        case serverTimestamp
        /// Sets the store's commit time, in microseconds, which increases with each commit.
        ///
        /// Documents ordered by this field are in the order of their commits. After the clock was wrong, the time may
        /// be far ahead. A server that speaks only Google's protocol sets its own time, truncated to milliseconds.
        case commitTime
    }

    /// The field to set.
    public var field: FieldPath
    /// The computation of the value.
    public var operation: Operation

    /// Creates a transform.
    public init(_ field: FieldPath, _ operation: Operation) {
        self.field = field
        self.operation = operation
    }
}
