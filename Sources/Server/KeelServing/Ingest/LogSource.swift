import KeelStorage

/// The attributes that the records of a scope share, which are stored with each record.
struct LogSource {
    let attributes: DocumentFields
    /// The name of the instrumentation scope; empty if there is none.
    var scope = "" {
        didSet { byteCount += scope.utf8.count - oldValue.utf8.count }
    }
    /// The approximate number of bytes added to each record.
    private(set) var byteCount: Int

    init(_ attributes: DocumentFields) {
        self.attributes = attributes
        byteCount = DocumentBody(attributes).bytes.count
    }

    func add(to fields: inout DocumentFields) {
        if !attributes.isEmpty { fields["resource"] = .map(attributes) }
        if !scope.isEmpty { fields["scope"] = .string(scope) }
    }
}
