" tide.vim - a thin client of `tide lsp` for Vim 9: errors as signs and in the location list, K for types and legality,
" C-x C-o to complete, gd for definitions. It starts in Lua files that mention tide.
"   let g:tide_program = '/path/to/tide'     the program, else that of PATH
"   let g:tide_run = v:false                 no runs of scripts when they are opened or saved
if exists('g:loaded_tide') || !has('channel') || !has('patch-8.2.4758')
  finish
endif
let g:loaded_tide = 1

let s:job = v:null
let s:versions = {}
let s:errors = {}

" The bytes of a character as %XX.
function! s:Escape(c) abort
  return join(map(range(strlen(a:c)), {_, i -> printf('%%%02X', char2nr(strpart(a:c, i, 1)) % 256)}), '')
endfunction

function! s:Uri(buffer) abort
  let path = resolve(fnamemodify(bufname(a:buffer), ':p'))
  return 'file://' .. substitute(path, '[^A-Za-z0-9/_.~-]', {m -> s:Escape(m[0])}, 'g')
endfunction

function! s:Heard(channel, message) abort
  if get(a:message, 'method', '') !=# 'textDocument/publishDiagnostics'
    return
  endif
  for buffer in range(1, bufnr('$'))
    if bufloaded(buffer) && s:Uri(buffer) ==# a:message.params.uri
      call s:Show(buffer, a:message.params.diagnostics)
    endif
  endfor
endfunction

function! s:Show(buffer, list) abort
  call sign_unplace('tide', {'buffer': a:buffer})
  let items = []
  for d in a:list
    let at = d.range.start
    let kind = d.severity == 1 ? 'E' : 'W'
    call add(items, {'bufnr': a:buffer, 'lnum': at.line + 1, 'col': at.character + 1, 'type': kind,
          \ 'text': d.message .. (has_key(d, 'code') ? ' [' .. d.code .. ']' : '')})
    call sign_place(0, 'tide', kind ==# 'E' ? 'TideError' : 'TideWarning', a:buffer, {'lnum': at.line + 1})
  endfor
  let s:errors[a:buffer] = items
  for window in win_findbuf(a:buffer)
    call setloclist(window, items, 'r')
  endfor
endfunction

" The reply to a request, {} after five seconds. ch_evalexpr() loses one that comes just behind a notice (Vim 9.0).
function! s:Request(method, params) abort
  let reply = {}
  let began = reltime()
  call ch_sendexpr(s:job, {'method': a:method, 'params': a:params}, {'callback': {_, m -> extend(reply, m)}})
  while empty(reply) && reltimefloat(reltime(began)) < 5
    sleep 5m
  endwhile
  return reply
endfunction

function! s:Start() abort
  if s:job isnot v:null && job_status(s:job) ==# 'run'
    return 1
  endif
  let s:job = job_start([get(g:, 'tide_program', 'tide'), 'lsp'],
        \ {'in_mode': 'lsp', 'out_mode': 'lsp', 'err_io': 'null', 'callback': function('s:Heard')})
  if job_status(s:job) !=# 'run'
    return 0
  endif
  let options = {'run': get(g:, 'tide_run', v:true)}
  let reply = s:Request('initialize', {'processId': getpid(), 'rootUri': v:null, 'initializationOptions': options,
        \ 'capabilities': {'general': {'positionEncodings': ['utf-8']}}})
  call ch_sendexpr(s:job, {'method': 'initialized', 'params': {}})
  return has_key(reply, 'result')
endfunction

function! s:Notify(method, params) abort
  if s:job isnot v:null && job_status(s:job) ==# 'run'
    call ch_sendexpr(s:job, {'method': a:method, 'params': a:params})
  endif
endfunction

function! s:Text() abort
  return join(getline(1, '$'), "\n") .. "\n"
endfunction

function! s:Open() abort
  if search('\<tide\>', 'nw') == 0 || &buftype !=# '' || !s:Start()
    return
  endif
  let buffer = bufnr('%')
  let s:versions[buffer] = 1
  call s:Notify('textDocument/didOpen', {'textDocument': {'uri': s:Uri(buffer), 'languageId': 'lua', 'version': 1,
        \ 'text': s:Text()}})
  setlocal omnifunc=TideComplete
  nnoremap <buffer> <silent> K :call TideHover()<CR>
  nnoremap <buffer> <silent> gd :call TideDefinition()<CR>
endfunction

function! s:Change() abort
  let buffer = bufnr('%')
  if !has_key(s:versions, buffer)
    return
  endif
  let s:versions[buffer] += 1
  call s:Notify('textDocument/didChange', {'textDocument': {'uri': s:Uri(buffer), 'version': s:versions[buffer]},
        \ 'contentChanges': [{'text': s:Text()}]})
endfunction

function! s:Save() abort
  if has_key(s:versions, bufnr('%'))
    call s:Change()
    call s:Notify('textDocument/didSave', {'textDocument': {'uri': s:Uri(bufnr('%'))}})
  else
    call s:Open()
  endif
endfunction

function! s:Ask(method, column) abort
  call s:Change()
  let reply = s:Request(a:method, {'textDocument': {'uri': s:Uri(bufnr('%'))},
        \ 'position': {'line': line('.') - 1, 'character': a:column}})
  return get(reply, 'result', v:null)
endfunction

function! TideHover() abort
  let result = s:Ask('textDocument/hover', col('.') - 1)
  if type(result) != v:t_dict
    echo 'nothing is known of this'
    return
  endif
  let lines = filter(split(result.contents.value, "\n"), 'v:val !=# "```"')
  call popup_atcursor(lines, {'border': [], 'padding': [0, 1, 0, 1]})
endfunction

function! TideDefinition() abort
  let result = s:Ask('textDocument/definition', col('.') - 1)
  if type(result) != v:t_dict
    echo 'no definition is known'
    return
  endif
  normal! m'
  if result.uri !=# s:Uri(bufnr('%'))
    let path = substitute(result.uri, '^file://', '', '')
    execute 'edit' fnameescape(substitute(path, '%\(\x\x\)', '\=nr2char("0x" .. submatch(1))', 'g'))
  endif
  call cursor(result.range.start.line + 1, result.range.start.character + 1)
endfunction

function! TideComplete(findstart, base) abort
  if a:findstart
    let s:column = col('.') - 1
    let s:result = s:Ask('textDocument/completion', s:column)
    return match(getline('.')[: s:column - 1], '[A-Za-z0-9_]*$')
  endif
  let words = type(s:result) == v:t_list ? map(copy(s:result), 'v:val.label') : []
  return filter(words, 'stridx(v:val, a:base) == 0')
endfunction

call sign_define('TideError', {'text': 'E>', 'texthl': 'Error'})
call sign_define('TideWarning', {'text': 'W>', 'texthl': 'Todo'})

augroup tide
  autocmd!
  autocmd FileType lua call s:Open()
  autocmd TextChanged,InsertLeave *.lua call s:Change()
  autocmd BufWritePost *.lua call s:Save()
  autocmd VimLeavePre * if s:job isnot v:null | call s:Notify('exit', {}) | endif
augroup END
