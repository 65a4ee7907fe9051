#if os(Linux)
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The functions of libsecret and GLib that the adapter calls, loaded at run time.
///
/// The library is never unloaded, because GLib does not support that. The types are those of the C headers, with
/// `gboolean` and enums as `Int32` and every object as a raw pointer.
struct LibSecret: Sendable {
    typealias Object = UnsafeMutableRawPointer
    typealias Text = UnsafePointer<CChar>
    typealias ErrorPlace = UnsafeMutablePointer<UnsafeMutableRawPointer?>

    let busGet: @Sendable @convention(c) (Int32, Object?, ErrorPlace?) -> Object?
    let setExitOnClose: @Sendable @convention(c) (Object, Int32) -> Void
    let serviceGet: @Sendable @convention(c) (Int32, Object?, ErrorPlace?) -> Object?
    let serviceDisconnect: @Sendable @convention(c) () -> Void
    let collectionForAlias:
        @Sendable @convention(c) (Object, Text, Int32, Object?, ErrorPlace?) -> Object?
    let collectionIsLocked: @Sendable @convention(c) (Object) -> Int32
    let store:
        @Sendable @convention(c) (
            Object, Object?, Object, Text, Text, Object, Object?, ErrorPlace?
        ) -> Int32
    let lookUp: @Sendable @convention(c) (Object, Object?, Object, Object?, ErrorPlace?) -> Object?
    let clear: @Sendable @convention(c) (Object, Object?, Object, Object?, ErrorPlace?) -> Int32
    let search:
        @Sendable @convention(c) (Object, Object?, Object, Int32, Object?, ErrorPlace?) -> Object?
    let itemAttributes: @Sendable @convention(c) (Object) -> Object?
    let valueNew: @Sendable @convention(c) (UnsafeRawPointer?, Int, Text) -> Object?
    let valueGet: @Sendable @convention(c) (Object, UnsafeMutablePointer<Int>?) -> Object?
    let valueRelease: @Sendable @convention(c) (Object) -> Void

    let cancellableNew: @Sendable @convention(c) () -> Object?
    let cancellableCancel: @Sendable @convention(c) (Object) -> Void
    let release: @Sendable @convention(c) (Object) -> Void
    let errorFree: @Sendable @convention(c) (Object) -> Void
    let quarkName: @Sendable @convention(c) (UInt32) -> Text?
    let tableNew: @Sendable @convention(c) (Object, Object, Object, Object) -> Object?
    let tableInsert: @Sendable @convention(c) (Object, Object?, Object?) -> Int32
    let tableLookUp: @Sendable @convention(c) (Object, Text) -> Object?
    let tableRelease: @Sendable @convention(c) (Object) -> Void
    let copyText: @Sendable @convention(c) (Text) -> Object?
    let listFree: @Sendable @convention(c) (Object) -> Void
    /// `g_str_hash`, `g_str_equal` and `g_free`, which are passed on and not called.
    let textHash: FunctionAddress
    let textEqual: FunctionAddress
    let free: FunctionAddress

    /// The address of a C function.
    ///
    /// `@unchecked`, because code is immutable and never moves.
    struct FunctionAddress: @unchecked Sendable {
        let pointer: Object
    }

    /// Loads the library with the given name, or throws `missingLibrary`.
    init(_ name: String) throws(SecretError) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw SecretError(.missingLibrary, "The library \(name) is not installed.")
        }
        let symbols = Symbols(library: name, handle: handle)
        busGet = try symbols.function("g_bus_get_sync")
        setExitOnClose = try symbols.function("g_dbus_connection_set_exit_on_close")
        serviceGet = try symbols.function("secret_service_get_sync")
        serviceDisconnect = try symbols.function("secret_service_disconnect")
        collectionForAlias = try symbols.function("secret_collection_for_alias_sync")
        collectionIsLocked = try symbols.function("secret_collection_get_locked")
        store = try symbols.function("secret_service_store_sync")
        lookUp = try symbols.function("secret_service_lookup_sync")
        clear = try symbols.function("secret_service_clear_sync")
        search = try symbols.function("secret_service_search_sync")
        itemAttributes = try symbols.function("secret_item_get_attributes")
        valueNew = try symbols.function("secret_value_new")
        valueGet = try symbols.function("secret_value_get")
        valueRelease = try symbols.function("secret_value_unref")
        cancellableNew = try symbols.function("g_cancellable_new")
        cancellableCancel = try symbols.function("g_cancellable_cancel")
        release = try symbols.function("g_object_unref")
        errorFree = try symbols.function("g_error_free")
        quarkName = try symbols.function("g_quark_to_string")
        tableNew = try symbols.function("g_hash_table_new_full")
        tableInsert = try symbols.function("g_hash_table_insert")
        tableLookUp = try symbols.function("g_hash_table_lookup")
        tableRelease = try symbols.function("g_hash_table_unref")
        copyText = try symbols.function("g_strdup")
        listFree = try symbols.function("g_list_free")
        textHash = FunctionAddress(pointer: try symbols.address("g_str_hash"))
        textEqual = FunctionAddress(pointer: try symbols.address("g_str_equal"))
        free = FunctionAddress(pointer: try symbols.address("g_free"))
    }
}

private struct Symbols {
    let library: String
    let handle: UnsafeMutableRawPointer

    func address(_ name: String) throws(SecretError) -> UnsafeMutableRawPointer {
        guard let address = dlsym(handle, name) else {
            throw SecretError(.missingLibrary, "The library \(library) has no \(name).")
        }
        return address
    }

    func function<Function>(_ name: String) throws(SecretError) -> Function {
        unsafeBitCast(try address(name), to: Function.self)
    }
}
#endif
