import KeelStorage

/// What the records of a scope share, and each is kept with.
struct LogSource {
    let attributes: DocumentFields
    /// The name of the instrumentation scope, empty where there is none.
    var scope = "" {
        didSet { byteCount += scope.utf8.count - oldValue.utf8.count }
    }
    /// About how many bytes it adds to each record.
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
