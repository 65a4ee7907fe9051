// Types of an app that have the names of what Keel shows to authors of adapters alone.

public struct ReadRequest {}
public struct ReadOperation {}
public struct ReadResult {}
public struct WriteBatch {}
public struct TransactionReads {}
public struct ChangeOrigin {}
public struct ChangeRequest {}
public struct ChangePage {}
public struct ChangeScope {}
public struct ScopeFilter {}
public struct StorageContext {}
public struct StorageEvaluator {}
