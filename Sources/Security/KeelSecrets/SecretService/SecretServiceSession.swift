#if os(Linux)
/// One call to the Secret Service, on a thread that may block.
struct SecretServiceSession {
    typealias Object = LibSecret.Object

    let library: LibSecret
    let cancellable: Object?

    // Constants of the C headers.
    private static let sessionBus: Int32 = 2
    private static let searchAll: Int32 = 1 << 1
    private static let defaultCollection = "default"

    // MARK: Calls

    /// Fails if secrets cannot be kept at the moment.
    func probe() throws(SecretError) {
        try withService { _ throws(SecretError) in }
    }

    func read(_ name: SecretName) throws(SecretError) -> [UInt8]? {
        try withService { service throws(SecretError) in try read(name, of: service) }
    }

    func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) throws(SecretError) -> Bool {
        try withService { service throws(SecretError) in
            if expectation != .anything {
                guard expectation.holds(for: try read(name, of: service)) else { return false }
            }
            if let bytes {
                try store(bytes, under: name, in: service)
            } else if expectation != .absent {
                // Otherwise, another process may have added the secret since it was compared.
                try clear(name, of: service)
            }
            return true
        }
    }

    func accounts(of serviceName: String) throws(SecretError) -> [String] {
        try withService { service throws(SecretError) in
            let table = attributes([("service", serviceName)])
            defer { library.tableRelease(table) }
            let list = try call(.loadFailed) { place in
                library.search(service, nil, table, Self.searchAll, cancellable, place)
            }
            guard let list else { return [] }
            defer { library.listFree(list) }
            var accounts: [String] = []
            var node: Object? = list
            while let current = node {
                // A node is the element, the next node and the previous node.
                let fields = current.assumingMemoryBound(to: Object?.self)
                if let item = fields[0] {
                    if let account = account(of: item) { accounts.append(account) }
                    library.release(item)
                }
                node = fields[1]
            }
            return accounts
        }
    }

    // MARK: Operations

    /// Runs a closure with the service if its default collection is unlocked.
    private func withService<Value>(
        _ body: (Object) throws(SecretError) -> Value
    ) throws(SecretError) -> Value {
        // This comes before libsecret asks for the same connection: unless told otherwise, GLib ends the process with
        // SIGTERM when a session bus disappears.
        let bus = try call(.noBus) { library.busGet(Self.sessionBus, cancellable, $0) }
        guard let bus else { throw SecretError(.noBus, "No session bus is available.") }
        defer { library.release(bus) }
        library.setExitOnClose(bus, 0)

        let service = try call(.unavailable) { library.serviceGet(0, cancellable, $0) }
        guard let service else {
            throw SecretError(.unavailable, "No Secret Service is available on the session bus.")
        }
        defer { library.release(service) }
        let collection = try call(.noCollection) {
            library.collectionForAlias(service, Self.defaultCollection, 0, cancellable, $0)
        }
        guard let collection else {
            throw SecretError(.noCollection, "The Secret Service has no default collection.")
        }
        defer { library.release(collection) }
        // Checked first, because libsecret itself would show a prompt.
        guard library.collectionIsLocked(collection) == 0 else {
            throw SecretError(.locked, "The Secret Service's default collection is locked.")
        }
        return try body(service)
    }

    private func read(_ name: SecretName, of service: Object) throws(SecretError) -> [UInt8]? {
        let table = attributes(of: name)
        defer { library.tableRelease(table) }
        let value = try call(.loadFailed) { library.lookUp(service, nil, table, cancellable, $0) }
        guard let value else { return nil }
        defer { library.valueRelease(value) }
        var count = 0
        guard let bytes = library.valueGet(value, &count), count > 0 else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
    }

    private func store(
        _ bytes: [UInt8],
        under name: SecretName,
        in service: Object
    ) throws(SecretError) {
        let table = attributes(of: name)
        defer { library.tableRelease(table) }
        let value = bytes.withUnsafeBytes { buffer in
            // The address must not be nil, as that of an empty array may be.
            withUnsafeBytes(of: 0 as UInt8) { empty in
                library.valueNew(
                    buffer.baseAddress ?? empty.baseAddress,
                    buffer.count,
                    "application/octet-stream"
                )
            }
        }
        guard let value else {
            throw SecretError(.saveFailed, "libsecret did not accept the value.")
        }
        defer { library.valueRelease(value) }
        let isDone = try call(.saveFailed) { place in
            library.store(
                service,
                nil,
                table,
                Self.defaultCollection,
                "\(name.service): \(name.account)",
                value,
                cancellable,
                place
            )
        }
        guard isDone != 0 else {
            throw SecretError(.saveFailed, "The Secret Service did not store the secret.")
        }
    }

    private func clear(_ name: SecretName, of service: Object) throws(SecretError) {
        let table = attributes(of: name)
        defer { library.tableRelease(table) }
        // The result is false if there was no secret, which is not an error.
        _ = try call(.deleteFailed) { library.clear(service, nil, table, cancellable, $0) }
    }

    // MARK: GLib

    private func attributes(of name: SecretName) -> Object {
        attributes([("service", name.service), ("account", name.account)])
    }

    private func attributes(_ pairs: [(String, String)]) -> Object {
        let table = library.tableNew(
            library.textHash.pointer,
            library.textEqual.pointer,
            library.free.pointer,
            library.free.pointer
        )
        // GLib aborts the process if memory is exhausted, so the result is never nil.
        guard let table else { preconditionFailure("g_hash_table_new_full returned nil") }
        for (key, value) in pairs {
            _ = library.tableInsert(table, library.copyText(key), library.copyText(value))
        }
        return table
    }

    private func account(of item: Object) -> String? {
        guard let table = library.itemAttributes(item) else { return nil }
        defer { library.tableRelease(table) }
        return library.tableLookUp(table, "account").flatMap { text in
            String(validatingCString: UnsafePointer(text.assumingMemoryBound(to: CChar.self)))
        }
    }

    private func call<Value>(
        _ code: SecretError.Code,
        _ function: (LibSecret.ErrorPlace) -> Value
    ) throws(SecretError) -> Value {
        var error: Object?
        let value = function(&error)
        guard let error else { return value }
        defer { library.errorFree(error) }
        let number = error.load(fromByteOffset: 4, as: Int32.self)
        let domain = library.quarkName(error.load(as: UInt32.self)).map { String(cString: $0) }
        let status = SecretStoreStatus(domain: domain ?? "unknown", number: Int(number))
        if status.isClosedConnection { library.serviceDisconnect() }
        throw SecretError(status, otherwise: code)
    }
}

extension SecretStoreStatus {
    /// Whether the status is GLib's `G_IO_ERROR_CLOSED`: the bus has disappeared.
    var isClosedConnection: Bool { domain == "g-io-error-quark" && number == 18 }
}

extension SecretError {
    /// Creates the error for a status of libsecret, D-Bus or GLib.
    ///
    /// The status's text is omitted, because it might contain attributes.
    init(_ status: SecretStoreStatus, otherwise code: Code) {
        switch (status.domain, status.number) {
        case ("g-io-error-quark", 19):
            self.init(.cancelled, "The call to the Secret Service was canceled.", cause: status)
        case ("g-io-error-quark", 18):
            self.init(.unavailable, "The connection to the session bus was lost.", cause: status)
        case ("g-io-error-quark", 24), ("g-dbus-error-quark", 4), ("g-dbus-error-quark", 20):
            self.init(.timeout, "The Secret Service did not answer.", cause: status)
        case (_, 2) where status.domain.hasPrefix("secret-error"):
            self.init(.locked, "The Secret Service's collection is locked.", cause: status)
        case (_, 3) where status.domain.hasPrefix("secret-error"),
            ("g-dbus-error-quark", 41):
            self.init(.noCollection, "The Secret Service has no collection.", cause: status)
        case _ where code == .noBus:
            self.init(.noBus, "No session bus is available.", cause: status)
        case ("g-dbus-error-quark", 2), ("g-dbus-error-quark", 3):
            self.init(.unavailable, "No Secret Service is available on the bus.", cause: status)
        default:
            self.init(code, "The Secret Service rejected the call.", cause: status)
        }
    }
}
#endif
