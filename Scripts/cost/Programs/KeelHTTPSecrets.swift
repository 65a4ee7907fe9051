import KeelHTTPAuthentication
import KeelHTTPSecrets
import KeelSecrets

let secrets = try SecretStore(InMemorySecretStoreAdapter(), service: "cost")
let store = SecretCredentialStore<BearerCredentials>(secrets)
print(try await store.load() == nil)
