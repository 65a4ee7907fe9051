package final class ListenerHub: Sendable {
    init(adapter: any StorageAdapter, configuration: StorageClient.Configuration) {}
}
