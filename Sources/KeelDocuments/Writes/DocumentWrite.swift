/// One write to one document.
public struct DocumentWrite: Sendable, Hashable {
    /// The effect of a write.
    public enum Operation: Sendable, Hashable {
        /// Replaces the document, or creates it; then applies the transforms in order.
        case set(DocumentBody, transforms: [FieldTransform] = [])
        /// Changes some fields and leaves the others; creates the document if the condition lets it.
        case update([FieldChange])
        /// Removes the document; a missing one is no error.
        case delete
        /// Changes nothing; only the condition counts.
        case verify
        /// Stores exactly this document, its times and revision included.
        ///
        /// For copies between stores. It is the one write that may lower a revision.
        case replicate(Document)
    }

    /// The document that is written to.
    public var path: DocumentPath
    /// The change.
    public var operation: Operation
    /// The condition that must hold before; otherwise the whole batch is refused.
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
    /// Nothing.
    case none
    /// The document exists; otherwise ``StorageError/Code/documentNotFound``.
    case exists
    /// The document does not exist; otherwise ``StorageError/Code/alreadyExists``.
    case isMissing
    /// The document is at this revision; otherwise ``StorageError/Code/conflict``.
    case revision(Revision)
    /// The document was last changed at this time; otherwise ``StorageError/Code/conflict``.
    case updateTime(Timestamp)
}

/// A change to one field of a document.
public struct FieldChange: Sendable, Hashable {
    /// The change of the field.
    public enum Action: Sendable, Hashable {
        /// The field gets this value; maps on the way to it are created.
        case set(DocumentValue)
        /// The field is removed.
        case remove
        /// The field gets a value computed from what it holds.
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

/// A value that the store computes from what a field holds at the moment of the commit.
public struct FieldTransform: Sendable, Hashable {
    /// The computations; their rules are those of Firestore's `DocumentTransform`.
    public enum Operation: Sendable, Hashable {
        /// Adds a number. A field without one is taken as absent; integers stop at their limits
        /// instead of overflowing; with a double on either side the result is a double.
        case increment(DocumentValue)
        /// Keeps the larger number; a field without one gets the operand.
        case maximum(DocumentValue)
        /// Keeps the smaller number; a field without one gets the operand.
        case minimum(DocumentValue)
        /// Appends those values that the array does not have; a field without an array gets one.
        case arrayUnion([DocumentValue])
        /// Removes every element equivalent to one of the values.
        case arrayRemove([DocumentValue])
        /// Sets the clock's time at the commit, cut to milliseconds; it is one time throughout a batch.
        case serverTimestamp
        /// Sets the store's time of the commit, cut to milliseconds, which never goes back.
        ///
        /// Documents can be ordered by it as they were written, whatever the clock did meanwhile; where that
        /// was wrong, it is no time that anybody lives in. A store that speaks Google's protocol sets its
        /// server's time.
        case commitTime
    }

    /// The field that gets the value.
    public var field: FieldPath
    /// How the value is computed.
    public var operation: Operation

    /// Creates a transform.
    public init(_ field: FieldPath, _ operation: Operation) {
        self.field = field
        self.operation = operation
    }
}
