// With these exports, `import Keel` suffices to get started. Not exported are swift-log, whose
// `Logger` an app imports itself, and KeelDependencies, whose `DependencyKey` might clash.
//
// The modules of a trait are exported without it, too: what they then have names the trait.
@_exported public import KeelAnalytics
@_exported public import KeelCache
@_exported public import KeelCore
@_exported public import KeelFiles
@_exported public import KeelHTTP
@_exported public import KeelHTTPAuthentication
@_exported public import KeelHTTPCaching
@_exported public import KeelHTTPCookies
@_exported public import KeelHTTPSecrets
@_exported public import KeelLocation
@_exported public import KeelLogging
@_exported public import KeelNetworkStatus
@_exported public import KeelRepositories
@_exported public import KeelSecrets
@_exported public import KeelSecurity
@_exported public import KeelSecurityFiles
@_exported public import KeelSecuritySecrets
@_exported public import KeelStorage
@_exported public import KeelStorageFirestore
@_exported public import KeelSync
@_exported public import KeelURITemplates
@_exported public import KeelWebSocket

// Tests/Apple compiles this module without them.
#if canImport(KeelAsyncHTTPClient)
@_exported public import KeelAsyncHTTPClient
#endif
#if canImport(KeelStorageSQLite)
@_exported public import KeelStorageSQLite
#endif
